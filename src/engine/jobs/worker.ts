import {
  JOB_KINDS,
  JOB_PAYLOADS,
  type Job,
  type JobKind,
  type JobPayload,
  type JobRunners,
} from '../../ports/jobs.ts';
import type { JobHandler, Worker } from '../../ports/queue.ts';
import type { OutagePolicy } from './outage-policy.ts';

/**
 * Everything that a queue needs to run all kinds of jobs: parsed payloads, and a policy for outages of
 * GitHub.
 */
export function workerOf(
  runners: JobRunners,
  { outagePolicy }: { outagePolicy: OutagePolicy },
): Pick<Worker, 'handlers' | 'prepare' | 'finish' | 'onRetriesExhausted' | 'onInterrupted'> {
  return {
    handlers: outagePolicy.patient(handlersOf(runners)),
    async prepare(tx, job) {
      const prepare = <K extends JobKind>(kind: K) => runners[kind].prepare?.(tx, payloadOf(kind, job));
      return prepare(job.kind);
    },

    finish(job) {
      const finish = <K extends JobKind>(kind: K) =>
        runners[kind].finish?.(payloadOf(kind, job), job.prepared);
      return finish(job.kind);
    },
    onRetriesExhausted: (job, error) => {
      const exhausted = <K extends JobKind>(kind: K) =>
        runners[kind].onRetriesExhausted(payloadOf(kind, job), error);
      return exhausted(job.kind);
    },
    async onInterrupted(tx, job) {
      const interrupted = <K extends JobKind>(kind: K) =>
        runners[kind].onInterrupted?.(tx, payloadOf(kind, job));
      await interrupted(job.kind);
    },
  };
}

function handlersOf(runners: JobRunners): Record<JobKind, JobHandler> {
  const handlerOf =
    <K extends JobKind>(kind: K): JobHandler =>
    (job, signal) =>
      runners[kind].run(payloadOf(kind, job), signal, job.prepared);
  return Object.fromEntries(JOB_KINDS.map((kind) => [kind, handlerOf(kind)])) as Record<JobKind, JobHandler>;
}

/** @throws ZodError if the payload is invalid or was stored by an unknown version */
function payloadOf<K extends JobKind>(kind: K, { payload }: Job): JobPayload<K> {
  return JOB_PAYLOADS[kind].parse(payload) as JobPayload<K>;
}
