import { pauseMs } from '../../core/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { GitHubError, SignInRefused } from '../../ports/github.ts';
import type { Job, JobKind } from '../../ports/jobs.ts';
import type { JobHandler } from '../../ports/queue.ts';

/**
 * How long work that needs GitHub is retried during an outage before its retries are exhausted, in
 * milliseconds. Longer than GitHub's worst outages so far.
 */
const MAX_UNAVAILABLE_MS = 24 * 3_600_000;

/**
 * Kinds of jobs that nothing would repeat or report after their retries are exhausted, with the longest pause
 * between attempts in milliseconds. It is longer for writes, which share an installation's limit, than for
 * deliveries and events, for which people wait. Other kinds fail visibly and can be started again (a step, an
 * answer), or repeat by themselves (recovery).
 */
const OUTLASTS_OUTAGES: ReadonlyMap<JobKind, number> = new Map([
  ['delivery', 60_000],
  ['event', 60_000],
  ['effect', 300_000],
  ['notify', 300_000],
]);

/**
 * How long GitHub may refuse one installation before visible work fails, in milliseconds. By then, the
 * installation counts as suspended or removed, although no webhook said so, and its runs end. Rejected: a
 * day, during which those runs would look alive.
 */
const INSTALLATION_OUTAGE_MS = 3_600_000;
/**
 * The longest pause of work that waits until the app is signed in. Most of its attempts send no request, so
 * there is nothing to spare.
 */
const SIGN_IN_PAUSE_MS = 60_000;

export interface OutagePolicy {
  /**
   * Wraps the handlers so that GitHub's limits and outages are not failures: the job is deferred until GitHub
   * accepts requests again. Outages are waited out for a day, and so is a GitHub that does not let the app
   * sign in.
   */
  patient(handlers: Record<JobKind, JobHandler>): Record<JobKind, JobHandler>;
  /** The number of jobs of each kind that this process has deferred until a limit ends. */
  waiting(): ReadonlyMap<JobKind, number>;
}

/**
 * One place for every kind of work. Rejected: counting outages as failures. An exhausted hourly limit lasts
 * longer than all attempts of a job, and work that waits for its turn must never fail. A crash during the
 * last attempt of an outage would also look like the cause.
 */
export function createOutagePolicy(deps: { clock: Clock; log: Log; random: () => number }): OutagePolicy {
  const { clock, log, random } = deps;
  const began = clock.now();
  const deferred = new Map<string, { kind: JobKind; until: Date }>();
  const nameOf = ({ kind, key, payload }: Job) => `${kind} ${key} ${JSON.stringify(payload)}`;

  function waitingOut(handler: JobHandler): JobHandler {
    return async (job, signal) => {
      const name = nameOf(job);
      deferred.delete(name);
      try {
        return await handler(job, signal);
      } catch (error) {
        if (!(error instanceof GitHubError)) throw error;
        if (error.retryAt) {
          deferred.set(name, { kind: job.kind, until: error.retryAt });
          return { kind: 'reschedule', at: error.retryAt };
        }
        const bounds = limitsOf(error, job.kind);
        if (!bounds) throw error;
        const { kind, key } = job;
        const now = clock.now().getTime();
        const unavailableSince = job.unavailableSince ?? clock.now();
        // Time without a running process does not count, because nothing was requested then.
        if (now - Math.max(unavailableSince.getTime(), began.getTime()) >= bounds.unavailableForMs)
          throw error;
        const pause = pauseMs(now - unavailableSince.getTime(), bounds.longestMs, random());
        const fields = { outage: 'github', kind, key, unavailableSince, err: messageOf(error) };
        // One message for all jobs: the app can do nothing at all, and one line a minute says so.
        if (error instanceof SignInRefused) log.error(fields, SIGNED_OUT[error.whose]);
        else log.warn(fields, `GitHub cannot be asked: jobs of kind ${kind} wait`);
        return { kind: 'defer', at: new Date(now + pause), unavailableSince };
      }
    };
  }

  return {
    patient: (handlers) => {
      const entries = Object.entries(handlers) as [JobKind, JobHandler][];
      return Object.fromEntries(entries.map(([kind, handler]) => [kind, waitingOut(handler)])) as Record<
        JobKind,
        JobHandler
      >;
    },
    waiting() {
      const counts = new Map<JobKind, number>();
      for (const [name, { kind, until }] of deferred) {
        // A job that was replaced by another is never seen again.
        if (until <= clock.now()) deferred.delete(name);
        else counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return counts;
    },
  };
}

const SIGNED_OUT: Readonly<Record<SignInRefused['whose'], string>> = {
  app: 'GitHub does not let this app sign in: all work waits',
  installation: 'GitHub does not let this app sign in to an installation: its work waits',
};

/** How long a job of this kind waits for the error to pass; `undefined` if it does not wait. */
function limitsOf(
  error: GitHubError,
  kind: JobKind,
): { unavailableForMs: number; longestMs: number } | undefined {
  const longestMs = OUTLASTS_OUTAGES.get(kind);
  if (error instanceof SignInRefused) {
    const waitsLong = longestMs !== undefined || error.whose === 'app';
    return {
      unavailableForMs: waitsLong ? MAX_UNAVAILABLE_MS : INSTALLATION_OUTAGE_MS,
      longestMs: SIGN_IN_PAUSE_MS,
    };
  }
  return error.kind === 'unavailable' && longestMs !== undefined
    ? { unavailableForMs: MAX_UNAVAILABLE_MS, longestMs }
    : undefined;
}
