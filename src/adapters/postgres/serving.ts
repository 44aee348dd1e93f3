import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { Connection } from './connection.ts';
import { postgresFailure } from './failure.ts';
import { IDLE_MS, LOCK } from './lock.ts';
import type { Place } from './place.ts';
import { type Answer, openPool, type Pool, rowsOf } from './pool.ts';
import { makeOwnTables } from './setup.ts';
import { type Duties, LIVING, NOW, nowIn, Sharing } from './sharing.ts';
import { refuseUnfinishedCopy } from './unfinished-copy.ts';

const holderSchema = z.object({
  pid: z.number(),
  host: z.string(),
  since: z.iso.datetime(),
  /** Whether others may work beside it. The version before 47 has none such, and waits for their end. */
  shares: z.boolean().default(false),
});

/** The process that serves a database; `since` is ISO 8601. */
type Holder = Pick<z.infer<typeof holderSchema>, 'pid' | 'host' | 'since'>;

/** For how long nobody else may take over, in seconds, if the process says nothing. By the server's clock. */
const LEASE_S = 10;
const LEASE = `clock_timestamp() + interval '${LEASE_S} s'`;
/** How often the process says that it still serves, in milliseconds. */
const RENEWED_MS = 2_000;

/** How long a renewal may take, in milliseconds. A second one has its time, too, before a lease of 10 s is over. */
const RENEWAL_MS = 3_000;
/** The pause before a renewal that failed is tried again, in milliseconds. */
const RENEWED_AGAIN_MS = 250;

/** How long an answer may take to arrive, in milliseconds: `take` waits for the lock for as long as a lease. */
const ANSWER_MS = (LEASE_S + 5) * 1_000;

/** What the transactions of a process carry that serves a database. They are refused as soon as it does not any more. */
export interface Fence {
  serving: number;
  /** Of a process that works beside others. */
  worker?: string;
}

type PostgresClaim =
  | { ok: true; fence: Fence; release(): Promise<void> }
  | { ok: false; holder: Holder | undefined };

/** The place of the process that serves a database, or of those that do so side by side. */
interface Serving {
  /**
   * Makes this process one that serves the database, or returns the other process that does. A process that ends without
   * releasing its claim, or is cut off, is succeeded when its lease has run out.
   *
   * The claim is taken under the lock of all that write, so that no transaction of a process before is open. Later ones of that
   * carry a lower fence, or name a worker that is removed, and are refused.
   * @throws CountersignError `storage.unfinished_copy`, also if the copy began after this process opened the database
   */
  claim(): Promise<PostgresClaim>;
  /** Of a process that works beside others. It has installations once that has begun to ask for them, while it has a claim. */
  readonly share: Sharing | undefined;
  /** For a process that does not want to claim it any more, or has released it. */
  close(): Promise<void>;
}

interface Options {
  clock: Clock;
  timers?: Timers;
  /** Called once other processes have taken over from this one. */
  onLost(): void;
  /** Works beside other processes that do, too. Without it, the process serves the database alone. */
  beside?: {
    does: Duties;
    onDivided(change: { gained: readonly number[]; left: readonly number[] }): void;
    onNotDivided(error: unknown): void;
  };
  /** For the command that copies. */
  goesOnWithCopy?: boolean;
}

export function servingOf(
  place: Place,
  { clock, onLost, timers = systemTimers, beside, goesOnWithCopy = false }: Options,
): Serving {
  const pool = openPool(place);
  /** Of renewals alone: a connection that does not answer is closed, so the next attempt certainly has a new one. */
  const renewals = openPool(place, { connections: 1, connectingMs: RENEWAL_MS });
  const failing = (error: unknown) => postgresFailure(error, place.name);
  const on = async <T>(
    { connect }: Pool,
    answersWithinMs: number,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> => {
    const connection = new Connection(await connect(answersWithinMs), failing);
    try {
      return await work(connection);
    } finally {
      connection.end();
    }
  };
  const onOne = <T>(work: (connection: Connection) => Promise<T>) => on(pool, ANSWER_MS, work);
  const share =
    beside &&
    new Sharing({
      worker: randomUUID(),
      clock,
      timers,
      on: onOne,
      onChanged: beside.onDivided,
      onFailed: beside.onNotDivided,
    });
  let isMade = false;
  return {
    share,
    async claim() {
      try {
        const claimant: Claimant = {
          holder: { pid: process.pid, host: hostname(), since: clock.now().toISOString() },
          beside: share && beside && { worker: share.worker, does: beside.does },
        };
        const sentAt = timers.elapsedMs();
        const taken = await onOne(async (connection) => {
          if (!isMade) await makeOwnTables(connection);
          isMade = true;
          const other = await otherOn(connection);
          if (other && !mayJoin(claimant, other)) return refusal(other);
          if (!goesOnWithCopy) await refuseUnfinishedCopy(connection, place.name);
          await share?.clock.timed(async () => ({ now: nowIn((await connection.script(NOW))[0]) }));
          return take(connection, claimant);
        });
        if (!taken.ok) return taken;
        share?.renewed(sentAt);
        const fence: Fence = { serving: taken.fence, ...(share && { worker: share.worker }) };
        const stopRenewing = renewing(fence, {
          renew: (text) => on(renewals, RENEWAL_MS, (connection) => connection.script(text)),
          onRenewed: (sent) => share?.renewed(sent),
          onLost,
          timers,
        });
        return {
          ok: true,
          fence,
          async release() {
            share?.end();
            stopRenewing();
            await onOne((connection) => release(connection, fence)).catch(() => {});
          },
        };
      } catch (error) {
        throw failing(error);
      }
    },
    async close() {
      share?.end();
      await Promise.all([pool.end(), renewals.end()]);
    },
  };
}

interface Claimant {
  holder: Holder;
  beside: { worker: string; does: Duties } | undefined;
}

type Found = z.infer<typeof holderSchema> | 'unknown';

function mayJoin({ beside }: Claimant, other: Found): boolean {
  return beside !== undefined && other !== 'unknown' && other.shares;
}

function refusal(other: Found): { ok: false; holder: Holder | undefined } {
  return { ok: false, holder: other === 'unknown' ? undefined : other };
}

/** Whether there are processes that work side by side, however silent. A process that serves alone has begun with a higher fence. */
const ARE_SHARERS = 'EXISTS (SELECT FROM workers WHERE workers.fence = serving.fence)';

/** The first of those that work side by side may have ended since. */
const ANY_WORKER = `SELECT holder FROM (${LIVING}) AS living ORDER BY id LIMIT 1`;

/** Who serves the database, if anybody does. Without the lock, because a process that stands by asks a few times a second. */
async function otherOn(connection: Connection): Promise<Found | undefined> {
  const [answer] = await connection.script(
    `SELECT COALESCE((${ANY_WORKER}), holder) AS holder FROM serving WHERE until >= clock_timestamp()`,
  );
  const [serving] = rowsOf<{ holder: string | null }>(answer);
  return serving && holderIn(serving.holder);
}

/**
 * Joins the processes that work side by side, also if all of them are silent: after an outage of the database, this one may be the
 * first to reach it again, and the others are at work. Each process is removed by those that work, after their grace. Where there are
 * no such processes, it succeeds the one that served alone and is silent. A process that wants to serve alone succeeds anyone silent.
 */
async function take(
  connection: Connection,
  claimant: Claimant,
): Promise<{ ok: true; fence: number } | { ok: false; holder: Holder | undefined }> {
  const { holder, beside } = claimant;
  await connection.script(
    `BEGIN; SET LOCAL lock_timeout = ${LEASE_S * 1_000}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}; ${LOCK}`,
  );
  try {
    const text = textOf({ ...holder, shares: beside !== undefined });
    const [taken, now] = await connection.script(
      `UPDATE serving SET fence = fence + 1, holder = ${text}, until = ${LEASE}
         WHERE until < clock_timestamp()${beside ? ` AND NOT ${ARE_SHARERS}` : ''} RETURNING fence;
       SELECT fence, COALESCE((${ANY_WORKER}), holder) AS holder, ${ARE_SHARERS} AS "areSharers" FROM serving`,
    );
    const [own] = rowsOf<{ fence: number }>(taken);
    const [found] = rowsOf<{ fence: number; holder: string | null; areSharers: boolean }>(now);
    if (!own && !(beside && found?.areSharers)) {
      await connection.script('ROLLBACK');
      return refusal(holderIn(found?.holder ?? null));
    }
    // Of an earlier generation, or silent for longer than their leases.
    if (own) await connection.script('DELETE FROM workers; DELETE FROM installation_leases');
    const fence = own?.fence ?? found?.fence ?? 0;
    // The row is there already if the answer to an earlier attempt was lost.
    if (beside)
      await connection.script(
        `INSERT INTO workers (id, fence, holder, installations, own_work, asks, until)
           VALUES ('${beside.worker}', ${fence}, ${text}, ${beside.does.installations}, ${beside.does.ownWork}, FALSE, ${LEASE})
           ON CONFLICT (id) DO UPDATE SET fence = excluded.fence, until = excluded.until;
         UPDATE serving SET until = ${LEASE}`,
      );
    await connection.script('COMMIT');
    return { ok: true, fence };
  } catch (error) {
    await connection.rollBack();
    throw error;
  }
}

/** Under the lock, so that the last of several that leave at once is known. */
async function release(connection: Connection, { serving, worker }: Fence): Promise<void> {
  const leave =
    worker === undefined
      ? ''
      : `DELETE FROM workers WHERE id = '${worker}'; DELETE FROM installation_leases WHERE worker = '${worker}';`;
  try {
    await connection.script(
      `BEGIN; SET LOCAL lock_timeout = ${LEASE_S * 1_000}; ${LOCK}; ${leave}
       UPDATE serving SET holder = NULL, until = '-infinity'
         WHERE fence = ${serving} AND NOT EXISTS (${LIVING});
       COMMIT`,
    );
  } catch (error) {
    await connection.rollBack();
    throw error;
  }
}

/**
 * After a failure, others may have taken over, or they cannot reach the database either: the next answer says it. Until then, this
 * process can write nothing to the database, and soon sends nothing to GitHub (`Sharing.mayWrite`).
 * @returns stops it
 */
function renewing(
  { serving, worker }: Fence,
  {
    renew,
    onRenewed,
    onLost,
    timers,
  }: {
    renew(text: string): Promise<Answer[]>;
    /** @param sentAt by the clock of the timers */
    onRenewed(sentAt: number): void;
    onLost(): void;
    timers: Timers;
  },
): () => void {
  let stop = timers.after(RENEWED_MS, attempt);
  let isOver = false;
  const isWorker = worker === undefined ? '' : ` AND EXISTS (SELECT FROM workers WHERE id = '${worker}')`;
  const work =
    worker === undefined
      ? ''
      : `UPDATE workers SET until = ${LEASE} WHERE id = '${worker}' AND fence = (SELECT fence FROM serving);`;

  function attempt(): void {
    const sentAt = timers.elapsedMs();
    void renew(`${work} UPDATE serving SET until = ${LEASE} WHERE fence = ${serving}${isWorker}`).then(
      (answers) => {
        if (answers.at(-1)?.rowCount === 0) return lost();
        onRenewed(sentAt);
        again(RENEWED_MS);
      },
      () => again(RENEWED_AGAIN_MS),
    );
  }

  function lost(): void {
    if (!isOver) onLost();
  }

  function again(ms: number): void {
    if (!isOver) stop = timers.after(ms, attempt);
  }

  return () => {
    isOver = true;
    stop();
  };
}

function textOf(value: object): string {
  return `'${JSON.stringify(value).replaceAll("'", "''")}'`;
}

function holderIn(text: string | null): Found {
  try {
    return holderSchema.parse(JSON.parse(text ?? ''));
  } catch {
    return 'unknown';
  }
}
