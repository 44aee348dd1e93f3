import { z } from 'zod';
import { eventSchema, type RepositoryEvent } from '../domain/event/event.ts';
import { reasonSchema } from '../domain/explanation/reason.ts';
import { actorSchema } from '../domain/run/actor.ts';
import type { Signal } from '../domain/run/transition.ts';
import type { Tx } from './storage.ts';

/** What there is to do. Payloads are small: they name rows. */
export type JobKind =
  | 'delivery'
  | 'event'
  | 'signal'
  | 'session'
  | 'wake'
  | 'effect'
  | 'ask'
  | 'merge_group'
  | 'missed_deliveries'
  | 'reconcile'
  | 'retention';

/**
 * The payload of a `signal` job: how a process without an engine, such as the command line beside a running server,
 * moves a run. Only what a person may ask for is allowed here; a session's result comes from its own worker alone.
 */
export const signalJobSchema = z.strictObject({
  runId: z.string(),
  /** Jobs of before this was said came from the command line alone. */
  by: actorSchema.default({ kind: 'operator' }),
  signal: z.strictObject({
    kind: z.literal('end'),
    status: z.literal('cancelled'),
    reason: reasonSchema,
  }) satisfies z.ZodType<Signal>,
});
export type SignalJob = z.infer<typeof signalJobSchema>;

/** The payload of an `event` job. */
export const eventJobSchema = z.strictObject({ event: eventSchema });

/** An event about a pull request that no delivery brought. */
export function eventJob(event: RepositoryEvent & { pull_request: number }): NewJob {
  const payload: z.infer<typeof eventJobSchema> = { event };
  return { kind: 'event', key: pullRequestKey(event.repository.id, event.pull_request), payload };
}

/** The key of everything about one pull request, so that it is dealt with one after another. */
export function pullRequestKey(repositoryId: number, pullRequest: number): string {
  return `pr:${repositoryId}#${pullRequest}`;
}

export interface NewJob {
  kind: JobKind;
  /** Jobs with the same key never run at the same time. */
  key: string;
  payload: unknown;
  /** Now, when left out. */
  runAt?: Date;
  /** A waiting job of this kind and key is brought forward instead of adding another. */
  coalesce?: boolean;
}

export interface Job {
  kind: JobKind;
  key: string;
  payload: unknown;
  /** How often in a row it was tried before and failed: by a throw, or because its process died. */
  attempts: number;
  /** Since when what it needs is away, in tries that are not counted. */
  unavailableSince: Date | null;
}

/**
 * What a handler says: `done`; when to come `again`, which is no failure and counts from nought; or to come `later`, since nothing was
 * tried or what it needs is away: what was counted stays. A throw means: try again with backoff, and after `maxAttempts` tell
 * `onRetriesExhausted` and forget the job.
 */
export type JobResult =
  | { kind: 'done' }
  | { kind: 'reschedule'; at: Date }
  | { kind: 'defer'; at: Date; unavailableSince?: Date };

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
