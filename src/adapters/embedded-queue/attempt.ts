import { backoffMs } from '../../core/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { CountersignError, messageOf, unreachable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Job, JobResult } from '../../ports/jobs.ts';
import type { JobHandler, Worker } from '../../ports/queue.ts';
import type { Counted } from '../../ports/storage.ts';

/** The pause before a retry of a job that could not reach the database or the store of artifacts. */
const UNAVAILABLE_MS = 15_000;

/**
 * The pause of a job that only another version can do. That one takes it when this process ends, or when the installation changes hands,
 * which it does not while a job of it is held.
 */
const UNKNOWN_KIND_MS = 15_000;

/** The next state of a job after an attempt. */
export type Disposition = { kind: 'remove' } | { kind: 'return'; at: Date; counted: Counted };

export interface AttemptOptions {
  clock: Clock;
  log: Log;
  /** How often a job is attempted before its retries are exhausted. */
  maxAttempts: number;
  /** From 0 up to 1, for the jitter of the backoff. */
  random: () => number;
}

/** Makes one attempt at a job with its handler, and returns what happens to the job. Never rejects. */
export async function attempt(
  options: AttemptOptions,
  worker: Worker,
  job: Job,
  signal: AbortSignal,
): Promise<Disposition> {
  const { clock, log, maxAttempts } = options;
  const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
  const handler = handlerOf(worker, job);
  if (!handler) {
    // A newer version has written to this database, and works beside this one or comes back after it. The job has never been run, so
    // nothing counts against it.
    log.warn({ kind: job.kind, key: job.key, outage: 'unknown kind' }, unknownKind(job.kind));
    return { kind: 'return', at: inMs(UNKNOWN_KIND_MS), counted: job };
  }
  try {
    if (job.attempts >= maxAttempts) {
      throw new CountersignError(
        'queue.given_up',
        `The job was begun ${job.attempts} times, and each time its process ended or giving it up failed.`,
      );
    }
    return dispositionOf(job, await handler(job, signal));
  } catch (error) {
    if (signal.aborted || isCode(error, 'queue.lease_lost'))
      return { kind: 'return', at: inMs(0), counted: job };
    if (isCode(error, 'storage.unavailable')) {
      // The job did not cause this: a disk that is full for an hour must not use up the attempts of that
      // hour's jobs.
      log.warn({ kind: job.kind, key: job.key, err: error }, `a job waits: ${messageOf(error)}`);
      return { kind: 'return', at: inMs(UNAVAILABLE_MS), counted: job };
    }
    const attempts = Math.min(job.attempts + 1, maxAttempts);
    const fields = { kind: job.kind, key: job.key, attempts, err: error };
    if (attempts === maxAttempts) {
      log.error(fields, `a job is given up: ${messageOf(error)}`);
      if (await areRetriesExhausted(options, worker, job, error)) return { kind: 'remove' };
    } else {
      log.warn(fields, `a job failed and will be tried again: ${messageOf(error)}`);
    }
    const at = inMs(backoffMs(attempts, options.random()));
    return { kind: 'return', at, counted: { attempts, unavailableSince: job.unavailableSince } };
  }
}

/** `undefined` for a kind that only another version knows. */
export function handlerOf({ handlers }: Worker, { kind }: Pick<Job, 'kind'>): JobHandler | undefined {
  return Object.hasOwn(handlers, kind) ? handlers[kind] : undefined;
}

function unknownKind(kind: string): string {
  return `a job of kind "${kind}" waits for a version of Countersign that knows it`;
}

function dispositionOf(job: Job, result: JobResult): Disposition {
  switch (result.kind) {
    case 'done':
      return { kind: 'remove' };
    case 'reschedule':
      return { kind: 'return', at: result.at, counted: { attempts: 0, unavailableSince: null } };
    case 'defer': {
      const unavailableSince = result.unavailableSince ?? job.unavailableSince;
      return { kind: 'return', at: result.at, counted: { attempts: job.attempts, unavailableSince } };
    }
    default:
      return unreachable(result);
  }
}

async function areRetriesExhausted(
  { log }: AttemptOptions,
  worker: Worker,
  job: Job,
  error: unknown,
): Promise<boolean> {
  try {
    await worker.onRetriesExhausted(job, error);
    return true;
  } catch (failure) {
    const { kind, key } = job;
    log.error({ kind, key, err: failure }, 'giving up a job failed; it will be tried again');
    return false;
  }
}

function isCode(error: unknown, code: 'queue.lease_lost' | 'storage.unavailable'): boolean {
  return error instanceof CountersignError && error.code === code;
}
