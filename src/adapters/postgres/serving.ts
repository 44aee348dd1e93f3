import { hostname } from 'node:os';
import { z } from 'zod';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { Connection } from './connection.ts';
import { postgresFailure } from './failure.ts';
import { LOCK } from './lock.ts';
import type { Place } from './place.ts';
import { openPool, type Pool, rowsOf } from './pool.ts';
import { makeOwnTables } from './setup.ts';
import { refuseUnfinishedCopy } from './unfinished-copy.ts';

const holderSchema = z.object({ pid: z.number(), host: z.string(), since: z.iso.datetime() });

/** The process that serves a database; `since` is ISO 8601. */
type Holder = z.infer<typeof holderSchema>;

/** For how long nobody else may take over, in seconds, if the process says nothing. By the server's clock. */
const LEASE_S = 10;
/** How often the process says that it still serves, in milliseconds. */
const RENEWED_MS = 2_000;

/** How long an answer may take to arrive, in milliseconds: `take` waits for the lock for as long as a lease. */
const ANSWER_MS = (LEASE_S + 5) * 1_000;

type PostgresClaim =
  | {
      ok: true;
      /** Transactions with it are refused as soon as another process serves the database. */
      fence: number;
      release(): Promise<void>;
    }
  | { ok: false; holder: Holder | undefined };

/** The place of the one process that serves a database. */
interface Serving {
  /**
   * Makes this process the one that serves the database, or returns the other process that does. A process that ends without
   * releasing its claim, or is cut off, is succeeded when its lease has run out.
   *
   * The claim is taken under the lock of all that write, so that no transaction of the process before is open. Its later ones
   * carry a lower fence, and are refused.
   * @throws CountersignError `storage.unfinished_copy`, also if the copy began after this process opened the database
   */
  claim(): Promise<PostgresClaim>;
  /** For a process that does not want to claim it any more, or has released it. */
  close(): Promise<void>;
}

interface Options {
  clock: Clock;
  timers?: Timers;
  /** Called once another process has taken over from this one. */
  onLost(): void;
  /** For the command that copies. */
  goesOnWithCopy?: boolean;
}

export function servingOf(
  place: Place,
  { clock, onLost, timers = systemTimers, goesOnWithCopy = false }: Options,
): Serving {
  const pool = openPool(place);
  const failing = (error: unknown) => postgresFailure(error, place.name);
  let isMade = false;
  return {
    async claim() {
      try {
        const holder: Holder = { pid: process.pid, host: hostname(), since: clock.now().toISOString() };
        const taken = await on(pool, failing, async (connection) => {
          if (!isMade) await makeOwnTables(connection);
          isMade = true;
          const other = await otherOn(connection);
          if (other) return other;
          if (!goesOnWithCopy) await refuseUnfinishedCopy(connection, place.name);
          return take(connection, holder);
        });
        if (!taken.ok) return taken;
        const { fence } = taken;
        const stopRenewing = renewing(pool, { fence, failing, onLost, timers });
        return {
          ok: true,
          fence,
          async release() {
            stopRenewing();
            await on(pool, failing, (connection) =>
              connection.script(
                `UPDATE serving SET holder = NULL, until = '-infinity' WHERE fence = ${fence}`,
              ),
            ).catch(() => {});
          },
        };
      } catch (error) {
        throw failing(error);
      }
    },
    close: () => pool.end(),
  };
}

/** Who serves the database, if anybody does. Without the lock, because a process that stands by asks a few times a second. */
async function otherOn(
  connection: Connection,
): Promise<{ ok: false; holder: Holder | undefined } | undefined> {
  const [answer] = await connection.script('SELECT holder FROM serving WHERE until >= clock_timestamp()');
  const [serving] = rowsOf<{ holder: string | null }>(answer);
  return serving && { ok: false, holder: holderIn(serving.holder) };
}

async function take(
  connection: Connection,
  holder: Holder,
): Promise<{ ok: true; fence: number } | { ok: false; holder: Holder | undefined }> {
  await connection.script(`BEGIN; SET LOCAL lock_timeout = ${LEASE_S * 1_000}; ${LOCK}`);
  try {
    const text = JSON.stringify(holder).replaceAll("'", "''");
    const [taken, now] = await connection.script(
      `UPDATE serving SET fence = fence + 1, holder = '${text}', until = clock_timestamp() + interval '${LEASE_S} s'
         WHERE until < clock_timestamp() RETURNING fence;
       SELECT holder FROM serving; COMMIT`,
    );
    const [row] = rowsOf<{ fence: number }>(taken);
    if (row) return { ok: true, fence: row.fence };
    const [other] = rowsOf<{ holder: string | null }>(now);
    return { ok: false, holder: holderIn(other?.holder ?? null) };
  } catch (error) {
    await connection.rollBack();
    throw error;
  }
}

/** Nobody takes over while nobody else can reach the database, so a failure means nothing. @returns stops it */
function renewing(
  pool: Pool,
  {
    fence,
    failing,
    onLost,
    timers,
  }: { fence: number; failing(error: unknown): unknown; onLost(): void; timers: Timers },
): () => void {
  let stop = timers.after(RENEWED_MS, renew);
  let isOver = false;

  function renew(): void {
    void on(pool, failing, (connection) =>
      connection.script(
        `UPDATE serving SET until = clock_timestamp() + interval '${LEASE_S} s' WHERE fence = ${fence}`,
      ),
    ).then(
      ([answer]) => (answer?.rowCount === 0 ? lost() : again()),
      () => again(),
    );
  }

  function lost(): void {
    if (!isOver) onLost();
  }

  function again(): void {
    if (!isOver) stop = timers.after(RENEWED_MS, renew);
  }

  return () => {
    isOver = true;
    stop();
  };
}

async function on<T>(
  pool: Pool,
  failing: (error: unknown) => unknown,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = new Connection(await pool.connect(ANSWER_MS), failing);
  try {
    return await work(connection);
  } finally {
    connection.end();
  }
}

function holderIn(text: string | null): Holder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}
