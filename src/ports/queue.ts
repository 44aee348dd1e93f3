import type { Job, JobKind, JobResult, NewJob } from './jobs.ts';
import type { Tx } from './storage.ts';

export type JobHandler = (job: Job, signal: AbortSignal) => Promise<JobResult>;

export interface Worker {
  /** For every kind. */
  handlers: Record<JobKind, JobHandler>;
  onRetriesExhausted(job: Job, error: unknown): Promise<void>;
  /**
   * Called for each job that this process takes, in the transaction that takes it. What it returns is the job's
   * `prepared`.
   */
  prepare?(tx: Tx, job: Job): Promise<unknown>;
  /**
   * Called for a job's first attempt, after `prepare`. @returns what does the whole job in one transaction, which shares the
   * commit of the one that takes it; `undefined` if the job needs more than the database. If that resolves to false or
   * rejects, the job is handled, and what it wrote must be nothing.
   */
  finish?(job: Job): ((tx: Tx) => Promise<boolean>) | undefined;
  /** Called for each job whose process died, in the transaction that takes the job over. */
  onInterrupted?(tx: Tx, job: Job): Promise<void>;
  /**
   * Jobs for recorded things that have none yet. Called in each turn with free places, and inserted in the
   * turn's transaction. None waits for a time to come.
   * @param worker only those of the installations that this process has the leases of
   */
  pendingJobs?(tx: Tx, most: number, worker?: string): Promise<NewJob[]>;
}

/** How many jobs can run at the same time, and how many do. */
export interface Slots {
  slots: number;
  busy: number;
}

/**
 * The order of work. Enqueueing is part of the caller's transaction, and work starts right after it commits.
 */
export interface Queue {
  enqueue(tx: Tx, ...jobs: NewJob[]): Promise<void>;
  /** Whether a job for each of these that is enqueued now can begin here at once, and none waits that would be earlier. */
  hasRoomFor(works: readonly { installationId: number | null }[]): boolean;
  /** Reviews have slots of their own. */
  slots(): { reviews: Slots; others: Slots };
  start(worker: Worker): void;
  /**
   * Accepts no new work and waits at most `ms` for running jobs. Then aborts them and returns them to the
   * queue.
   */
  stop(ms: number): Promise<void>;
  /**
   * Resolves when no job is due or running: for tests and for a graceful stop.
   * @throws CountersignError if the queue is not running, because due jobs would then never run
   */
  idle(): Promise<void>;
  /**
   * Looks for due jobs at once, because there are new ones that were not enqueued, or because a test moved
   * the clock.
   */
  wake(): void;
}
