import type { Clock, Timers } from '../../core/clock.ts';
import { candidateFor } from '../../core/rendezvous.ts';
import type { WorkShare } from '../../ports/work-share.ts';
import type { Connection } from './connection.ts';
import { LOCK } from './lock.ts';
import { type Answer, rowsOf } from './pool.ts';

/** How often a process looks for installations that it should have, in milliseconds. */
const DIVIDED_MS = 500;

/**
 * How long a process waits after an outage of its own before it removes others that are silent, in milliseconds: when the server was away
 * for longer than their leases, they renew them as soon as they reach it again.
 */
const GRACE_MS = 10_000;

/** How long the lock may take, in milliseconds: the next attempt is not far. */
const PATIENCE_MS = 5_000;

/** By how much a clock may differ from the database's and is believed all the same, in milliseconds: answers take a moment. */
const TOLERATED_MS = 1_000;

/** What stands for the app's own work where installations have ids. GitHub's are positive. */
const OWN_WORK = 0;

/** What a process does: the work of installations, the app's own work, or both. */
export interface Duties {
  installations: boolean;
  ownWork: boolean;
}

interface Worker extends Duties {
  id: string;
  asks: boolean;
}

interface Situation {
  /** By the database's clock, in ms since 1970. */
  now: number;
  workers: Worker[];
  areSomeDead: boolean;
  /** Those that this process has a lease of. */
  own: number[];
  /** Those with jobs, of which nobody who lives has a lease, but perhaps somebody who is silent. */
  vacant: { id: number; isLeased: boolean }[];
}

interface Options {
  worker: string;
  /** Of this machine. */
  clock: Clock;
  timers: Timers;
  /** Runs work on a connection of its own. */
  on<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Called with what this process has got and given up. */
  onChanged(change: { gained: readonly number[]; left: readonly number[] }): void;
}

/**
 * Divides the installations between the processes that work, by their ids (`candidateFor`). An installation changes hands only while
 * none of its jobs is held, so a new process interrupts nothing; one that ends, or whose lease runs out, leaves its own to the others.
 */
export class Sharing implements WorkShare {
  readonly worker: string;
  readonly clock: Clock = { now: () => new Date(this.#options.clock.now().getTime() + this.#behindMs) };
  /** By how much this machine's clock is behind. */
  #behindMs = 0;
  readonly #options: Options;
  readonly #listeners: ((installations: readonly number[]) => void)[] = [];
  /** The leases that this process certainly has. */
  #own = new Set<number>();
  #asks = false;
  #stopTimer: (() => void) | undefined;
  #isOver = false;
  /** When the last attempt failed, by the clock of the timers. */
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.worker = options.worker;
    this.#options = options;
  }

  /** @param now of the database, in ms since 1970 */
  learnTime(now: number): void {
    const behindMs = now - this.#options.clock.now().getTime();
    if (Math.abs(behindMs - this.#behindMs) > TOLERATED_MS) this.#behindMs = behindMs;
  }

  has(installationId: number | null): boolean {
    return this.#own.has(installationId ?? OWN_WORK);
  }

  onGained(listener: (installations: readonly number[]) => void): void {
    this.#listeners.push(listener);
  }

  begin(): void {
    this.#asks = true;
    this.#again(0);
  }

  retire(): void {
    this.#asks = false;
  }

  /** Asks for nothing more. */
  end(): void {
    this.#isOver = true;
    this.#stopTimer?.();
  }

  #again(ms: number): void {
    if (this.#isOver) return;
    this.#stopTimer = this.#options.timers.after(ms, () => {
      // What cannot be divided now is so later. The renewal of the lease says what a failure means.
      void this.#divide()
        .catch(() => {
          this.#failedAt = this.#options.timers.elapsedMs();
        })
        .finally(() => this.#again(DIVIDED_MS));
    });
  }

  async #divide(): Promise<void> {
    const before = this.#own;
    await this.#options.on(async (connection) => {
      const found = await situation(connection, this.worker);
      this.learnTime(found.now);
      const isMine = (installation: number) =>
        this.#asks && workerFor(installation, found.workers) === this.worker;
      const removesDead = this.#options.timers.elapsedMs() - this.#failedAt >= GRACE_MS;
      const wanted = found.vacant
        .filter(({ id, isLeased }) => isMine(id) && (removesDead || !isLeased))
        .map(({ id }) => id);
      // What nobody else should have stays here until this process ends.
      const unwanted = found.own.filter((id) => !isMine(id) && workerFor(id, found.workers) !== undefined);
      // Not known any more before they are given up, so that no job of them is taken at the same moment.
      this.#own = new Set(found.own.filter((id) => !unwanted.includes(id)));
      const me = found.workers.find(({ id }) => id === this.worker);
      const isSaid = me === undefined || me.asks === this.#asks;
      const removes = found.areSomeDead && removesDead;
      if (isSaid && !removes && wanted.length + unwanted.length === 0) return;
      const { gained, left } = await change(connection, this.worker, {
        asks: this.#asks,
        removes,
        wanted,
        unwanted,
      });
      this.#own = new Set([...found.own.filter((id) => !left.includes(id)), ...gained]);
    });
    // Also what an earlier change gained whose answer was lost.
    const gained = [...this.#own].filter((id) => !before.has(id));
    const left = [...before].filter((id) => !this.#own.has(id));
    if (gained.length + left.length > 0) this.#options.onChanged({ gained, left });
    if (gained.length > 0) for (const listener of this.#listeners) listener(gained);
  }
}

/** The process that should do the work; `undefined` if none may. Without one for the app's own work, any does that. */
function workerFor(installation: number, workers: readonly Worker[]): string | undefined {
  const asking = workers.filter(({ asks }) => asks);
  const meant = asking.filter((one) => (installation === OWN_WORK ? one.ownWork : one.installations));
  const able = meant.length === 0 && installation === OWN_WORK ? asking : meant;
  return candidateFor(
    installation,
    able.map(({ id }) => id),
  );
}

/** The time of the database, in ms since 1970. */
export const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now';

export function nowIn(answer: Answer | undefined): number {
  const [row] = rowsOf<{ now: number }>(answer);
  if (!row) throw new Error('the database did not say what time it is');
  return row.now;
}

/** How many deliveries without a job are looked at: of most installations, the oldest ones have jobs soon. */
const MOST_DELIVERIES = 1_000;

/**
 * Read without the lock of all that write, because each process does so twice a second. The ids of the installations that have jobs are
 * looked up one after the other in their index, since the table may have any number of rows:
 * https://wiki.postgresql.org/wiki/Loose_indexscan
 */
async function situation(connection: Connection, worker: string): Promise<Situation> {
  const [time, workers, dead, own, vacant] = await connection.script(
    `${NOW};
     SELECT id, installations, own_work AS "ownWork", asks FROM workers WHERE until >= clock_timestamp() ORDER BY id;
     SELECT id FROM workers WHERE until < clock_timestamp() LIMIT 1;
     SELECT installation_id AS id FROM installation_leases WHERE worker = '${worker}';
     WITH RECURSIVE present AS (
       (SELECT COALESCE(installation_id, 0) AS id FROM jobs ORDER BY 1 LIMIT 1)
       UNION ALL
       SELECT (
         SELECT COALESCE(installation_id, 0) FROM jobs WHERE COALESCE(installation_id, 0) > present.id ORDER BY 1 LIMIT 1
       ) FROM present WHERE present.id IS NOT NULL
     )
     SELECT id, EXISTS (SELECT FROM installation_leases WHERE installation_id = id) AS "isLeased" FROM (
       SELECT id FROM present WHERE id IS NOT NULL
       UNION
       SELECT COALESCE(installation_id, 0) FROM (
         SELECT installation_id FROM deliveries WHERE queue_key IS NOT NULL ORDER BY id LIMIT ${MOST_DELIVERIES}
       ) AS unqueued
     ) AS working WHERE NOT EXISTS (
       SELECT FROM installation_leases AS lease JOIN workers ON workers.id = lease.worker
       WHERE lease.installation_id = working.id AND workers.until >= clock_timestamp()
     )`,
  );
  const idsIn = (answer: typeof own) => rowsOf<{ id: number }>(answer).map(({ id }) => id);
  return {
    now: nowIn(time),
    workers: rowsOf<Worker>(workers),
    areSomeDead: rowsOf(dead).length > 0,
    own: idsIn(own),
    vacant: rowsOf<{ id: number; isLeased: boolean }>(vacant),
  };
}

/**
 * Under the lock of all that write, so that no job is taken or ended meanwhile. A process whose lease has run out is removed, and
 * with that, each of its later transactions is refused.
 */
async function change(
  connection: Connection,
  worker: string,
  {
    asks,
    removes,
    wanted,
    unwanted,
  }: { asks: boolean; removes: boolean; wanted: readonly number[]; unwanted: readonly number[] },
): Promise<{ gained: number[]; left: number[] }> {
  try {
    const answers = await connection.script(
      `BEGIN; SET LOCAL lock_timeout = ${PATIENCE_MS}; ${LOCK};
       ${removes ? 'DELETE FROM workers WHERE until < clock_timestamp();' : ''}
       DELETE FROM installation_leases WHERE worker NOT IN (SELECT id FROM workers);
       UPDATE workers SET asks = ${asks} WHERE id = '${worker}';
       DELETE FROM installation_leases AS lease WHERE worker = '${worker}' AND installation_id = ANY(${listOf(unwanted)})
         AND NOT EXISTS (
           SELECT FROM jobs WHERE COALESCE(jobs.installation_id, 0) = lease.installation_id AND lease_token IS NOT NULL
         ) RETURNING installation_id AS id;
       INSERT INTO installation_leases SELECT id, '${worker}' FROM unnest(${listOf(wanted)}) AS id
         WHERE EXISTS (SELECT FROM workers WHERE workers.id = '${worker}')
         ON CONFLICT DO NOTHING RETURNING installation_id AS id;
       ${wanted.includes(OWN_WORK) ? ASSIGN_OLD_JOBS : ''}
       COMMIT`,
    );
    const idsIn = (command: string, nth: number) =>
      rowsOf<{ id: number }>(answers.filter((answer) => answer.command === command).at(nth)).map(
        ({ id }) => id,
      );
    return { left: idsIn('DELETE', -1), gained: idsIn('INSERT', -1) };
  } catch (error) {
    await connection.rollBack();
    throw error;
  }
}

function listOf(ids: readonly number[]): string {
  return `'{${ids.join(',')}}'::BIGINT[]`;
}

/**
 * Jobs that the version before 47 has left say nothing of their installation, and the poll of questions would keep its row for good.
 * The process that takes over the app's own work finds it out once.
 */
const ASSIGN_OLD_JOBS = `
  UPDATE jobs SET installation_id = CASE CASE kind WHEN 'review' THEN 'session' ELSE kind END
    WHEN 'delivery' THEN (SELECT installation_id FROM deliveries WHERE id = CAST(CAST(payload AS JSON) ->> 'deliveryId' AS BIGINT))
    WHEN 'event' THEN CAST(CAST(payload AS JSON) -> 'event' ->> 'installation_id' AS BIGINT)
    WHEN 'signal' THEN (SELECT installation_id FROM chain_runs WHERE id = CAST(payload AS JSON) ->> 'runId')
    WHEN 'wake' THEN (SELECT installation_id FROM chain_runs WHERE id = CAST(payload AS JSON) ->> 'runId')
    WHEN 'notify' THEN (SELECT installation_id FROM chain_runs WHERE id = CAST(payload AS JSON) ->> 'run_id')
    WHEN 'ask' THEN (SELECT installation_id FROM skill_calls WHERE id = CAST(payload AS JSON) ->> 'callId')
    WHEN 'effect' THEN (
      SELECT CAST(CAST(effect_json AS JSON) ->> 'installation_id' AS BIGINT) FROM effects WHERE key = CAST(payload AS JSON) ->> 'key'
    )
    WHEN 'session' THEN (
      SELECT chain_runs.installation_id FROM sessions
      JOIN invocations ON invocations.id = sessions.invocation_id
      JOIN chain_runs ON chain_runs.id = invocations.run_id
      WHERE sessions.id = CAST(payload AS JSON) ->> 'sessionId'
    )
    ELSE CAST(CAST(payload AS JSON) ->> 'installation_id' AS BIGINT)
  END WHERE installation_id IS NULL;`;
