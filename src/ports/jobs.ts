import { z } from 'zod';
import { writeCauseSchema } from '../domain/effect/write-cause.ts';
import { eventSchema, type RepositoryEvent, repositoryRefSchema } from '../domain/event/event.ts';
import { reasonSchema } from '../domain/explanation/reason.ts';
import { actorSchema } from '../domain/run/actor.ts';
import type { Signal } from '../domain/run/transition.ts';
import type { Tx } from './storage.ts';

/**
 * The payload of each kind of job. Payloads are small: they name rows. Stored jobs outlive an update of this program, so a
 * field that is added later has a default or is optional.
 */
export const JOB_PAYLOADS = {
  /** A recorded delivery is read and acted on. */
  delivery: z.object({ deliveryId: z.int() }),
  /** An event that no delivery brought: fired by hand, or found by comparing with GitHub. */
  event: z.strictObject({ event: eventSchema }),
  /**
   * How a process without an engine, such as the command line beside a running server, moves a run. Only what a person may ask
   * for is allowed here; the result of a session comes from its own worker alone.
   */
  signal: z.strictObject({
    runId: z.string(),
    /** Older jobs lack it; they came from the command line. */
    by: actorSchema.default({ kind: 'operator' }),
    signal: z.strictObject({
      kind: z.literal('end'),
      status: z.literal('cancelled'),
      reason: reasonSchema,
    }) satisfies z.ZodType<Signal>,
  }),
  /** A session works at its step. */
  session: z.object({ sessionId: z.string(), because: z.enum(['time', 'event']).default('event') }),
  /** The time has come for which a run waits. */
  wake: z.object({ runId: z.string() }),
  /** A desired effect is made on GitHub. */
  effect: z.strictObject({
    key: z.string(),
    /** On whose account the write is, for one that belongs to no run. Older jobs lack it. */
    cause: writeCauseSchema.optional(),
  }),
  /** A question that somebody put with `/countersign ask` is answered. */
  ask: z.strictObject({
    callId: z.string(),
    /** Whether the other commands of the comment were executed: one reaction speaks for all of them. */
    othersOk: z.boolean(),
  }),
  /** A merge group is judged until it is gone. */
  merge_group: z.strictObject({
    installation_id: z.int(),
    repository: repositoryRefSchema,
    base_ref: z.string(),
    head_sha: z.string(),
    requested_at: z.iso.datetime(),
  }),
  /** GitHub is asked for deliveries that it could not deliver. */
  missed_deliveries: z.object({}),
  /** What GitHub has is compared with what this app has seen: of all installations, or of one. */
  reconcile: z.discriminatedUnion('of', [
    z.strictObject({ of: z.literal('installations') }),
    z.strictObject({ of: z.literal('installation'), installation_id: z.int() }),
  ]),
  /** What is older than the retention periods is deleted. */
  retention: z.object({}),
} as const;

export type JobKind = keyof typeof JOB_PAYLOADS;
export const JOB_KINDS = Object.keys(JOB_PAYLOADS) as readonly JobKind[];

/** What a job of a kind carries, as its runner gets it. */
export type JobPayload<K extends JobKind> = z.output<(typeof JOB_PAYLOADS)[K]>;

interface Enqueued {
  /** Jobs with the same key never run at the same time. */
  key: string;
  /** Now, when left out. */
  runAt?: Date;
  /** A waiting job of this kind and key is brought forward instead of adding another. */
  coalesce?: boolean;
}

/** A job to be enqueued: one member for each kind, so that a payload can only be given to its own kind. */
export type NewJob = {
  [K in JobKind]: Enqueued & { kind: K; payload: z.input<(typeof JOB_PAYLOADS)[K]> };
}[JobKind];

/** A job as it is taken from the queue. Its payload was stored, possibly by an older version, and is not parsed yet. */
export interface Job {
  kind: JobKind;
  key: string;
  payload: unknown;
  /** How often in a row it was tried before and failed: by a throw, or because its process died. */
  attempts: number;
  /** Since when what it needs is unavailable, in tries that are not counted. */
  unavailableSince: Date | null;
}

/**
 * What a run of a job ends with. `reschedule` runs it again at that time, and counts tries from zero. `defer` runs it again without
 * a change to what was counted, since nothing was tried or what it needs is unavailable. A throw means: try again with backoff, and
 * once the tries are used up, call `onRetriesExhausted` and forget the job.
 */
export type JobResult =
  | { kind: 'done' }
  | { kind: 'reschedule'; at: Date }
  | { kind: 'defer'; at: Date; unavailableSince?: Date };

/** All that there is to say about one kind of job. The feature that it belongs to exports it. */
export interface JobRunner<K extends JobKind> {
  run(payload: JobPayload<K>, signal: AbortSignal): Promise<JobResult>;
  /** The tries are used up; whoever waits for the result is told here. */
  onRetriesExhausted(payload: JobPayload<K>, error: unknown): Promise<void>;
  /** Another process died while it ran the job; called in the transaction that takes the job over. */
  onInterrupted?(tx: Tx, payload: JobPayload<K>): Promise<void>;
}

export type JobRunners = { readonly [K in JobKind]: JobRunner<K> };

/** An event about a pull request that no delivery brought. */
export function eventJob(event: RepositoryEvent & { pull_request: number }): NewJob {
  return { kind: 'event', key: pullRequestKey(event.repository.id, event.pull_request), payload: { event } };
}

/** The key of everything about one pull request, so that it is dealt with one after another. */
export function pullRequestKey(repositoryId: number, pullRequest: number): string {
  return `pr:${repositoryId}#${pullRequest}`;
}
