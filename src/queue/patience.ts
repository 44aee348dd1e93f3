import type { Clock } from '../core/clock.ts';
import { GitHubError } from '../github/github.ts';
import type { Job, JobHandler, JobKind } from './queue.ts';

export interface Patience {
  /** The same handlers, for which GitHub's limits are no failure: the job comes again when GitHub takes requests again. */
  patient(handlers: Record<JobKind, JobHandler>): Record<JobKind, JobHandler>;
  /** How many jobs of each kind this process has put off until a limit ends. */
  waiting(): ReadonlyMap<JobKind, number>;
}

/**
 * In one place for every kind of work. Counting it as a failure was rejected: a spent hour is longer than all of a job's
 * tries together, and work that waits for its turn must never be given up.
 */
export function createPatience(clock: Clock): Patience {
  const putOff = new Map<string, { kind: JobKind; until: Date }>();
  const nameOf = ({ kind, key, payload }: Job) => `${kind} ${key} ${JSON.stringify(payload)}`;

  function patient(handler: JobHandler): JobHandler {
    return async (job, signal) => {
      const name = nameOf(job);
      putOff.delete(name);
      try {
        return await handler(job, signal);
      } catch (error) {
        if (!(error instanceof GitHubError) || error.kind !== 'rate_limited' || !error.retryAt) throw error;
        putOff.set(name, { kind: job.kind, until: error.retryAt });
        return { kind: 'again', at: error.retryAt };
      }
    };
  }

  return {
    patient: (handlers) => {
      const entries = Object.entries(handlers) as [JobKind, JobHandler][];
      return Object.fromEntries(entries.map(([kind, handler]) => [kind, patient(handler)])) as Record<
        JobKind,
        JobHandler
      >;
    },
    waiting() {
      const counts = new Map<JobKind, number>();
      for (const [name, { kind, until }] of putOff) {
        // A job that another one took the place of is never seen again.
        if (until <= clock.now()) putOff.delete(name);
        else counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return counts;
    },
  };
}
