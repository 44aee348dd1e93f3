import { type Clock, SharedClock, type Timers } from '../../core/clock.ts';
import { candidateFor } from '../../core/rendezvous.ts';
import type { WorkShare } from '../../ports/work-share.ts';
import { noteCommit } from './commits.ts';
import type { Connection } from './connection.ts';
import { LOCK } from './lock.ts';
import { type Answer, rowsOf } from './pool.ts';

/** How often a process looks for installations that it should have, in milliseconds. */
const DIVIDED_MS = 500;

/**
 * For how long a process must have reached the database before it removes others that are silent, in milliseconds: when the server was
 * away for longer than their leases, they renew them as soon as they reach it again. A process that starts has seen nothing before.
 */
const GRACE_MS = 10_000;

/**
 * How far apart two answers of the database may be of which a process says that it reached it all the time, in milliseconds. A lease
 * has at least 8 s left when a server or a machine stops for a while, so nobody's runs out in such a gap.
 */
const GAP_MS = 5_000;

/**
 * For how long after its last sign of life a process begins to send writes, in milliseconds. After 10 s, others may take over its work,
 * and after another 10 s (`GITHUB_REQUEST_LIMIT_MS`) they look for what it sent. So a request may be on its way for 2 s, and GitHub may
 * take 10 s for it.
 */
const WRITES_MS = 8_000;

/** How long the lock may take, in milliseconds: the next attempt is not far. */
const PATIENCE_MS = 5_000;

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
  /** Those that this process has a lease of. A busy one has jobs that are held. */
  own: { id: number; isBusy: boolean }[];
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
  /** Called with the first of several errors in a row. */
  onFailed(error: unknown): void;
}

/**
 * Divides the installations between the processes that work, by their ids (`candidateFor`). An installation changes hands only while
 * none of its jobs is held, so a new process interrupts nothing; one that ends, or whose lease runs out, leaves its own to the others.
 */
export class Sharing implements WorkShare {
  readonly worker: string;
  readonly clock: SharedClock;
  readonly #options: Options;
  readonly #listeners: ((installations: readonly number[]) => void)[] = [];
  /** The leases that this process certainly has. */
  #own = new Set<number>();
  #asks = false;
  #stopTimer: (() => void) | undefined;
  #isOver = false;
  /** Since when this process has reached the database all the time, and when that answered last, by the clock of the timers. */
  #reached: { since: number; last: number } | undefined;
  #isFailing = false;
  /** When the last sign of life was sent that the database has answered, by the clock of the timers. */
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.worker = options.worker;
    this.clock = new SharedClock(options.clock, options.timers);
    this.#options = options;
  }

  has(installationId: number | null): boolean {
    return this.#own.has(installationId ?? OWN_WORK);
  }

  /** @param sentAt by the clock of the timers */
  renewed(sentAt: number): void {
    this.#renewedAt = sentAt;
  }

  /**
   * By a clock that goes on while a signal stops the process: CLOCK_MONOTONIC, which Linux stops only while the whole machine is
   * suspended.
   */
  mayWrite(): boolean {
    return !this.#isOver && this.#options.timers.elapsedMs() - this.#renewedAt < WRITES_MS;
  }

  leases(): { installations: number; ownWork: boolean } {
    const ownWork = this.#own.has(OWN_WORK);
    return { installations: this.#own.size - (ownWork ? 1 : 0), ownWork };
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

  /** Asks for nothing more, and writes nothing more. */
  end(): void {
    this.#isOver = true;
    this.#stopTimer?.();
  }

  #again(ms: number): void {
    if (this.#isOver) return;
    this.#stopTimer = this.#options.timers.after(ms, () => {
      // What cannot be divided now is so later.
      void this.#divide()
        .then(() => {
          this.#isFailing = false;
        })
        .catch((error: unknown) => {
          this.#reached = undefined;
          if (!this.#isFailing && !this.#isOver) this.#options.onFailed(error);
          this.#isFailing = true;
        })
        .finally(() => this.#again(DIVIDED_MS));
    });
  }

  async #divide(): Promise<void> {
    await this.#options.on(async (connection) => {
      const found = await this.clock.timed(() => situation(connection, this.worker));
      const isMine = (installation: number) =>
        this.#asks && workerFor(installation, found.workers) === this.worker;
      const me = found.workers.find(({ id }) => id === this.worker);
      const removesDead = me !== undefined && this.#hasReachedForMs() >= GRACE_MS;
      const wanted = found.vacant
        .filter(({ id, isLeased }) => isMine(id) && (removesDead || !isLeased))
        .map(({ id }) => id);
      const own = found.own.map(({ id }) => id);
      // What nobody else should have stays here until this process ends.
      const unwanted = found.own
        .filter(({ id, isBusy }) => !isBusy && !isMine(id) && workerFor(id, found.workers) !== undefined)
        .map(({ id }) => id);
      // Not known any more before they are given up, so that no job of them is taken at the same moment.
      // And known before anything else is waited for, also those that an earlier change gained whose answer was lost.
      this.#know(own.filter((id) => !unwanted.includes(id)));
      const isSaid = me === undefined || me.asks === this.#asks;
      const removes = found.areSomeDead && removesDead;
      if (isSaid && !removes && wanted.length + unwanted.length === 0) return;
      const { gained, left } = await change(connection, this.worker, {
        asks: this.#asks,
        removesUntil: removes ? found.now + GAP_MS : undefined,
        wanted,
        unwanted,
      });
      this.#hasReachedForMs();
      this.#know([...own.filter((id) => !left.includes(id)), ...gained]);
    });
  }

  /** In one step: nobody finds that this process has an installation before what it remembers of it was forgotten. */
  #know(own: readonly number[]): void {
    const before = this.#own;
    this.#own = new Set(own);
    const gained = own.filter((id) => !before.has(id));
    const left = [...before].filter((id) => !this.#own.has(id));
    if (gained.length + left.length > 0) this.#options.onChanged({ gained, left });
    if (gained.length > 0) for (const listener of this.#listeners) listener(gained);
  }

  /** Called when the database has answered. */
  #hasReachedForMs(): number {
    const now = this.#options.timers.elapsedMs();
    const { since, last } = this.#reached ?? { since: now, last: now };
    this.#reached = { since: now - last > GAP_MS ? now : since, last: now };
    return now - this.#reached.since;
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

/** The processes that work. The version before 47 leaves the rows of others as they are when it begins, but not the fence. */
export const LIVING =
  'SELECT workers.* FROM workers JOIN serving ON serving.fence = workers.fence WHERE workers.until >= clock_timestamp()';

/** The time of the database, in ms since 1970. */
export const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now';

export function nowIn(answer: Answer | undefined): number {
  const [row] = rowsOf<{ now: number }>(answer);
  if (!row) throw new Error('the database did not say what time it is');
  return row.now;
}

/**
 * Read without the lock of all that write, because each process does so twice a second. The ids of the installations that have jobs are
 * looked up one after the other in their index, since the table may have any number of rows:
 * https://wiki.postgresql.org/wiki/Loose_indexscan
 */
async function situation(connection: Connection, worker: string): Promise<Situation> {
  const [time, workers, dead, own, vacant] = await connection.script(
    `${NOW};
     SELECT id, installations, own_work AS "ownWork", asks FROM (${LIVING}) AS living ORDER BY id;
     SELECT id FROM workers WHERE id NOT IN (SELECT id FROM (${LIVING}) AS living) LIMIT 1;
     SELECT installation_id AS id, EXISTS (
       SELECT FROM jobs WHERE COALESCE(jobs.installation_id, 0) = lease.installation_id AND lease_token IS NOT NULL
     ) AS "isBusy" FROM installation_leases AS lease WHERE worker = '${worker}';
     WITH RECURSIVE present AS (
       (SELECT COALESCE(installation_id, 0) AS id FROM jobs ORDER BY 1 LIMIT 1)
       UNION ALL
       SELECT (
         SELECT COALESCE(installation_id, 0) FROM jobs WHERE COALESCE(installation_id, 0) > present.id ORDER BY 1 LIMIT 1
       ) FROM present WHERE present.id IS NOT NULL
     ), working AS (
       SELECT id FROM present WHERE id IS NOT NULL
       UNION
       SELECT COALESCE(installation_id, 0) FROM deliveries WHERE queue_key IS NOT NULL
     )
     SELECT id, EXISTS (SELECT FROM installation_leases WHERE installation_id = id) AS "isLeased" FROM working
     WHERE id NOT IN (
       SELECT installation_id FROM installation_leases WHERE worker IN (SELECT id FROM (${LIVING}) AS living)
     )`,
  );
  return {
    now: nowIn(time),
    workers: rowsOf<Worker>(workers),
    areSomeDead: rowsOf(dead).length > 0,
    own: rowsOf<{ id: number; isBusy: boolean }>(own),
    vacant: rowsOf<{ id: number; isLeased: boolean }>(vacant),
  };
}

/**
 * Those whose lease has run out. Their own columns are compared, so that one is left that renews its lease at the same moment.
 * @param until by the database's clock, in ms since 1970: the server may come to it much later, after an outage, and then all are silent
 */
const removal = (until: number) => `
  DELETE FROM workers WHERE (until < clock_timestamp() OR fence <> (SELECT fence FROM serving))
    AND clock_timestamp() < to_timestamp(${until} / 1000.0);`;

/**
 * Under the lock of all that write, so that no job is taken or ended meanwhile. A process whose lease has run out is removed, and
 * with that, each of its later transactions is refused.
 */
async function change(
  connection: Connection,
  worker: string,
  {
    asks,
    removesUntil,
    wanted,
    unwanted,
  }: {
    asks: boolean;
    removesUntil: number | undefined;
    wanted: readonly number[];
    unwanted: readonly number[];
  },
): Promise<{ gained: number[]; left: number[] }> {
  try {
    const answers = await connection.script(
      `BEGIN; SET LOCAL lock_timeout = ${PATIENCE_MS}; ${LOCK};
       ${removesUntil === undefined ? '' : removal(removesUntil)}
       DELETE FROM installation_leases WHERE worker NOT IN (SELECT id FROM workers);
       UPDATE workers SET asks = ${asks} WHERE id = '${worker}';
       ${wanted.includes(OWN_WORK) ? assignOldJobs(worker) : ''}
       DELETE FROM installation_leases AS lease WHERE worker = '${worker}' AND installation_id = ANY(${listOf(unwanted)})
         AND NOT EXISTS (
           SELECT FROM jobs WHERE COALESCE(jobs.installation_id, 0) = lease.installation_id AND lease_token IS NOT NULL
         ) RETURNING installation_id AS id;
       INSERT INTO installation_leases SELECT id, '${worker}' FROM unnest(${listOf(wanted)}) AS id
         WHERE '${worker}' IN (SELECT living.id FROM (${LIVING}) AS living)
         ON CONFLICT DO NOTHING RETURNING installation_id AS id;
       COMMIT`,
    );
    const idsIn = (command: 'DELETE' | 'INSERT') => {
      const last = answers.findLast((answer) => answer.command === command);
      return rowsOf<{ id: number }>(last).map(({ id }) => id);
    };
    return { left: idsIn('DELETE'), gained: idsIn('INSERT') };
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
 * The process that takes over the app's own work finds it out once. The fields are found as JSON.stringify writes them, because
 * PostgreSQL refuses to read some JSON, such as that of half a surrogate pair; within a text, each quote has a backslash before it.
 */
const assignOldJobs = (worker: string) => `
  UPDATE jobs SET installation_id = CASE CASE kind WHEN 'review' THEN 'session' ELSE kind END
    WHEN 'delivery' THEN (
      SELECT installation_id FROM deliveries WHERE id = CAST(substring(payload FROM '"deliveryId":([0-9]+)') AS BIGINT)
    )
    WHEN 'signal' THEN (SELECT installation_id FROM chain_runs WHERE id = substring(payload FROM '"runId":"([^"]+)"'))
    WHEN 'wake' THEN (SELECT installation_id FROM chain_runs WHERE id = substring(payload FROM '"runId":"([^"]+)"'))
    WHEN 'notify' THEN (SELECT installation_id FROM chain_runs WHERE id = substring(payload FROM '"run_id":"([^"]+)"'))
    WHEN 'ask' THEN (SELECT installation_id FROM skill_calls WHERE id = substring(payload FROM '"callId":"([^"]+)"'))
    WHEN 'effect' THEN (
      SELECT CAST(substring(effect_json FROM '"installation_id":([0-9]+)') AS BIGINT) FROM effects
      WHERE key = substring(payload FROM '"key":"([^"]+)"')
    )
    WHEN 'session' THEN (
      SELECT chain_runs.installation_id FROM sessions
      JOIN invocations ON invocations.id = sessions.invocation_id
      JOIN chain_runs ON chain_runs.id = invocations.run_id
      WHERE sessions.id = substring(payload FROM '"sessionId":"([^"]+)"')
    )
    ELSE CAST(substring(payload FROM '"installation_id":([0-9]+)') AS BIGINT)
  END WHERE installation_id IS NULL;
  ${noteCommit(worker)}`;
