import { z } from 'zod';
import { writeCauseSchema } from '../domain/effect/write-cause.ts';
import { eventSchema, type RepositoryEvent, repositoryRefSchema } from '../domain/event/event.ts';
import { reasonSchema } from '../domain/explanation/reason.ts';
import { actorSchema } from '../domain/run/actor.ts';
import type { Signal } from '../domain/run/transition.ts';
import { pullRequestKey, repositoryKey } from './job-keys.ts';
import type { Tx } from './storage.ts';

/**
 * The payload of each kind of job. Payloads are small: they contain ids of rows. Stored jobs survive an
 * update of this program, so a field that is added later must be optional or have a default.
 */
export const JOB_PAYLOADS = {
  /** Processes a recorded delivery. */
  delivery: z.object({ deliveryId: z.int() }),
  /** Processes an event without a delivery: fired by hand, or found by reconciliation. */
  event: z.strictObject({ event: eventSchema }),
  /**
   * Moves a run on behalf of a process without an engine, such as the command line beside a running server.
   * Only what a person may request is allowed. Only a session's own worker reports its result.
   */
  signal: z.strictObject({
    runId: z.string(),
    /** Missing in older jobs, which came from the command line. */
    by: actorSchema.default({ kind: 'operator' }),
    signal: z.strictObject({
      kind: z.literal('end'),
      status: z.literal('cancelled'),
      reason: reasonSchema,
    }) satisfies z.ZodType<Signal>,
  }),
  /** Runs a session. */
  session: z.object({ sessionId: z.string(), because: z.enum(['time', 'event']).default('event') }),
  /** The same for a step that works for long, with analyzers, programs or models. */
  review: z.object({ sessionId: z.string(), because: z.enum(['time', 'event']).default('event') }),
  /** Wakes a run at the time that it waits for. */
  wake: z.object({ runId: z.string() }),
  /** Executes a desired effect. */
  effect: z.strictObject({
    key: z.string(),
    /** Who caused the write, if it belongs to no run. Missing in older jobs. */
    cause: writeCauseSchema.optional(),
  }),
  /** Answers a question of `/countersign ask`. */
  ask: z.strictObject({
    callId: z.string(),
    /** Whether the other commands of the comment succeeded. One reaction shows the result of all of them. */
    othersOk: z.boolean(),
  }),
  /** Answers a reply in a conversation on a line. Its text is read when it is answered. */
  thread: z.strictObject({
    installation_id: z.int(),
    repository: repositoryRefSchema,
    pull_request: z.int(),
    comment_id: z.int(),
    thread: z.int(),
    asked_by: z.string(),
  }),
  /** Judges a merge group until it is gone. */
  merge_group: z.strictObject({
    installation_id: z.int(),
    repository: repositoryRefSchema,
    base_ref: z.string(),
    head_sha: z.string(),
    requested_at: z.iso.datetime(),
  }),
  /** Polls the open questions of an installation for answers. */
  questions: z.strictObject({ installation_id: z.int() }),
  /** Notifies people of an open question. */
  notify: z.strictObject({ run_id: z.string(), approval_id: z.string() }),
  /** Asks GitHub for missed deliveries. */
  missed_deliveries: z.object({}),
  /** Compares GitHub's state with what this app has seen, for all installations or for one. */
  reconcile: z.discriminatedUnion('of', [
    z.strictObject({ of: z.literal('installations') }),
    z.strictObject({ of: z.literal('installation'), installation_id: z.int() }),
  ]),
  /** Reads again what the operator says about chains, and their schedules if those may have changed. */
  chains: z.object({ schedules: z.boolean().optional() }),
  /** Evaluates schedules, or reads those of a repository's chains. */
  schedules: z.discriminatedUnion('of', [
    z.strictObject({ of: z.literal('all') }),
    z.strictObject({
      of: z.literal('repository'),
      installation_id: z.int(),
      repository: repositoryRefSchema,
    }),
  ]),
  /** Deletes what is older than the retention periods. */
  retention: z.object({}),
  /** Packs the bodies of deliveries together. */
  bodies: z.object({}),
  /** Checks the indexes of skills for new versions. */
  skill_indexes: z.object({}),
} as const;

export type JobKind = keyof typeof JOB_PAYLOADS;
/** The kind of job that has slots of its own, so that a burst of reviews delays nothing else. */
export const REVIEW = 'review' satisfies JobKind;
export const JOB_KINDS = Object.keys(JOB_PAYLOADS) as readonly JobKind[];

/** The parsed payload of a kind, as its runner gets it. */
export type JobPayload<K extends JobKind> = z.output<(typeof JOB_PAYLOADS)[K]>;

interface Enqueued {
  /**
   * Whose work it is: one process at a time does the work of an installation, and so knows what is left of its budget at GitHub.
   * `null` for the app's own work, which is not about any one of them.
   */
  installationId: number | null;
  /** Jobs with the same key never run at the same time. */
  key: string;
  /** Default: now. */
  runAt?: Date;
  /** Brings a waiting job of this kind and key forward instead of adding another. */
  coalesce?: boolean;
  /** Default: what its kind is worth. */
  worth?: Worth;
}

/**
 * Which jobs go first when more are due than the queue has places. `first`: a countersign, a gate check or a
 * question, because a person waits. `normal`: what moves runs. `last`: what nobody waits for.
 */
export type Worth = 'first' | 'normal' | 'last';

/** The numbers in the database, smallest first. Reviews have places of their own. */
export const WORTH = { first: 0, normal: 1, last: 2, review: 3 } as const;

const WORTH_OF_KIND: Readonly<Partial<Record<JobKind, Worth>>> = {
  signal: 'first',
  chains: 'first',
  questions: 'first',
  merge_group: 'first',
  ask: 'last',
  thread: 'last',
  notify: 'last',
  missed_deliveries: 'last',
  reconcile: 'last',
  schedules: 'last',
  retention: 'last',
  skill_indexes: 'last',
};

export function worthOf({ kind, worth }: NewJob): number {
  return WORTH[kind === REVIEW ? REVIEW : (worth ?? WORTH_OF_KIND[kind] ?? 'normal')];
}

/** A job to enqueue: one member per kind, so that each kind only accepts its own payload. */
export type NewJob = {
  [K in JobKind]: Enqueued & { kind: K; payload: z.input<(typeof JOB_PAYLOADS)[K]> };
}[JobKind];

/**
 * A job taken from the queue. Its payload was stored, possibly by an older version, and is not parsed yet.
 */
export interface Job {
  kind: JobKind;
  key: string;
  payload: unknown;
  /** Failed attempts in a row: by an error, or because the process died. */
  attempts: number;
  /** Since when something that it needs has been unavailable. Such attempts do not count. */
  unavailableSince: Date | null;
  /** What the worker has read and recorded in the transaction that took the job; nothing is stored. */
  prepared?: unknown;
}

/** The delivery that an event was read from. */
export interface Cause {
  deliveryId: number;
  /** When GitHub first sent the delivery, if known; otherwise when it arrived. */
  sentAt: Date;
  /**
   * Marks the delivery as done and ends its job, as part of the last transaction about its last event. Missing
   * for an event that is not the last. Where nobody calls it, the delivery is marked afterwards.
   */
  end?(tx: Tx): Promise<void>;
}

/**
 * The result of an attempt at a job. `reschedule` runs it again at that time with its attempts reset to zero.
 * `defer` runs it again without counting this attempt, because nothing was tried or something that it needs
 * is unavailable. A thrown error counts the attempt and retries with a backoff; after the last attempt, the
 * queue calls `onRetriesExhausted` and deletes the job.
 */
export type JobResult =
  | { kind: 'done' }
  | { kind: 'reschedule'; at: Date }
  | { kind: 'defer'; at: Date; unavailableSince?: Date };

/** Everything about one kind of job. The feature that it belongs to exports it. */
export interface JobRunner<K extends JobKind, Prepared = unknown> {
  /** @param prepared what `prepare` returned; `undefined` if it failed or does not exist */
  run(payload: JobPayload<K>, signal: AbortSignal, prepared?: Prepared): Promise<JobResult>;
  /**
   * Reads what the job begins with, and records that it begins, in the transaction that takes the job. Reading it
   * later would cost statements for rows that this transaction knows, and recording it another commit.
   */
  prepare?(tx: Tx, payload: JobPayload<K>): Promise<Prepared | undefined>;
  /**
   * What does the whole job in one transaction, which shares the commit of the one that takes it; `undefined` if the job
   * needs more than the database. If that resolves to false, having written nothing, or rejects, the job is run.
   */
  finish?(payload: JobPayload<K>, prepared?: Prepared): ((tx: Tx) => Promise<boolean>) | undefined;
  /** The last attempt failed. Reports this to the people or steps that wait for the result. */
  onRetriesExhausted(payload: JobPayload<K>, error: unknown): Promise<void>;
  /** Another process died while it ran the job. Called in the transaction that takes the job over. */
  onInterrupted?(tx: Tx, payload: JobPayload<K>): Promise<void>;
}

export type JobRunners = { readonly [K in JobKind]: JobRunner<K> };

/** The job that compares all installations with what was seen. It repeats itself, and this brings it forward. */
export function reconcileJob(runAt: Date): NewJob {
  return {
    kind: 'reconcile',
    installationId: null,
    key: 'reconcile',
    payload: { of: 'installations' },
    runAt,
    coalesce: true,
  };
}

/** The job for an event about a pull request without a delivery. */
export function eventJob(event: RepositoryEvent & { pull_request: number }): NewJob {
  return {
    kind: 'event',
    installationId: event.installation_id,
    key: pullRequestKey(event.repository.id, event.pull_request),
    payload: { event },
  };
}

/** The job for an event without a delivery that need not be about a pull request. */
export function repositoryEventJob(event: RepositoryEvent & { pull_request: number | null }): NewJob {
  const { pull_request: number, repository } = event;
  return number === null
    ? {
        kind: 'event',
        installationId: event.installation_id,
        key: repositoryKey(repository.id),
        payload: { event },
      }
    : eventJob({ ...event, pull_request: number } as RepositoryEvent & { pull_request: number });
}

/** The job that notifies people of an open question, and shows whom it notified. */
export function notifyJob({ id, runId }: { id: string; runId: string }, installationId: number): NewJob {
  return {
    kind: 'notify',
    installationId,
    key: `notify:${id}`,
    payload: { run_id: runId, approval_id: id },
    coalesce: true,
  };
}
