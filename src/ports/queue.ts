import type { Job, JobKind, JobResult, NewJob } from './jobs.ts';
import type { Tx } from './storage.ts';

export type JobHandler = (job: Job, signal: AbortSignal) => Promise<JobResult>;

export interface Worker {
  /** For every kind. */
  handlers: Record<JobKind, JobHandler>;
  onRetriesExhausted(job: Job, error: unknown): Promise<void>;
  /** Told of each job at which another process died, in the transaction that takes it over. */
  onInterrupted?(tx: Tx, job: Job): Promise<void>;
  /** Jobs of what was recorded without one, asked for in each turn that has places free, and inserted in its transaction. */
  pendingJobs?(tx: Tx, most: number): Promise<NewJob[]>;
}

/**
 * Who does which work when. Enqueueing is part of the caller's transaction; work starts right after it commits.
 */
export interface Queue {
  enqueue(tx: Tx, ...jobs: NewJob[]): Promise<void>;
  start(worker: Worker): void;
  /** Takes no new work and waits for what is under way, at most `ms`; then aborts it and gives it back. */
  stop(ms: number): Promise<void>;
  /**
   * Resolves when nothing is due and nothing is under way: for tests and for a graceful end.
   * @throws CountersignError when the queue does not run, since then nobody would ever do what is due.
   */
  idle(): Promise<void>;
  /** Looks for due work at once: there is some that nobody enqueued, or a test has moved the clock. */
  wake(): void;
}
