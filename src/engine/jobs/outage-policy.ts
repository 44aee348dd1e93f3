import { pauseMs } from '../../core/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { GitHubError, SignInRefused } from '../../ports/github.ts';
import type { Job, JobKind } from '../../ports/jobs.ts';
import type { JobHandler } from '../../ports/queue.ts';

/** How long GitHub is asked in vain before work that needs it is given up, in milliseconds: longer than its worst outages so far. */
const MOST_UNAVAILABLE_MS = 24 * 3_600_000;

/**
 * What nobody would do again, nor hear of, if it were given up, with the longest pause between two tries in milliseconds: writes share an
 * installation's pace, and people wait for what they said to be heard. The others are seen to fail and may be begun anew (a step, an
 * answer), or come again by themselves (the looks for what was missed).
 */
const OUTLASTS_OUTAGES: ReadonlyMap<JobKind, number> = new Map([
  ['delivery', 60_000],
  ['event', 60_000],
  ['effect', 300_000],
]);

/**
 * How long GitHub may refuse one installation before what ends visibly is given up, in milliseconds: by then it is taken for suspended
 * or removed, although no webhook told of it, and its runs end. A day was rejected, since they would look alive for so long.
 */
const INSTALLATION_OUTAGE_MS = 3_600_000;
/** The longest pause of work that waits for the app to be signed in: most of its tries ask nobody, so none need to be spared. */
const SIGN_IN_PAUSE_MS = 60_000;

export interface OutagePolicy {
  /**
   * The same handlers, for which GitHub's limits and outages are no failure: the job comes again when GitHub takes requests again.
   * An outage is waited out for a day, and so is a GitHub that does not let the app sign in.
   */
  patient(handlers: Record<JobKind, JobHandler>): Record<JobKind, JobHandler>;
  /** How many jobs of each kind this process has put off until a limit ends. */
  waiting(): ReadonlyMap<JobKind, number>;
}

/**
 * In one place for every kind of work. Counting it as a failure was rejected: a spent hour is longer than all of a job's
 * tries together, and work that waits for its turn must never be given up; and a process that died in an outage's last try would have
 * been taken for the reason.
 */
export function createOutagePolicy(deps: { clock: Clock; log: Log; random: () => number }): OutagePolicy {
  const { clock, log, random } = deps;
  const began = clock.now();
  const putOff = new Map<string, { kind: JobKind; until: Date }>();
  const nameOf = ({ kind, key, payload }: Job) => `${kind} ${key} ${JSON.stringify(payload)}`;

  function patient(handler: JobHandler): JobHandler {
    return async (job, signal) => {
      const name = nameOf(job);
      putOff.delete(name);
      try {
        return await handler(job, signal);
      } catch (error) {
        if (!(error instanceof GitHubError)) throw error;
        if (error.retryAt) {
          putOff.set(name, { kind: job.kind, until: error.retryAt });
          return { kind: 'reschedule', at: error.retryAt };
        }
        const bounds = boundsOf(error, job.kind);
        if (!bounds) throw error;
        const { kind, key } = job;
        const now = clock.now().getTime();
        const unavailableSince = job.unavailableSince ?? clock.now();
        // While nobody ran to ask, nothing was asked in vain.
        if (now - Math.max(unavailableSince.getTime(), began.getTime()) >= bounds.unavailableForMs)
          throw error;
        const pause = pauseMs(now - unavailableSince.getTime(), bounds.longestMs, random());
        const fields = { outage: 'github', kind, key, unavailableSince, err: messageOf(error) };
        // One sentence for all of them: the app can do nothing at all, and one line a minute says so.
        if (error instanceof SignInRefused) log.error(fields, SIGNED_OUT[error.whose]);
        else log.warn(fields, `GitHub cannot be asked: jobs of kind ${kind} wait`);
        return { kind: 'defer', at: new Date(now + pause), unavailableSince };
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

const SIGNED_OUT: Readonly<Record<SignInRefused['whose'], string>> = {
  app: 'GitHub does not let this app sign in: all work waits',
  installation: 'GitHub does not let this app sign in to an installation: its work waits',
};

/** How long a job of this kind waits for what was thrown to pass, if it does. */
function boundsOf(
  error: GitHubError,
  kind: JobKind,
): { unavailableForMs: number; longestMs: number } | undefined {
  const longestMs = OUTLASTS_OUTAGES.get(kind);
  if (error instanceof SignInRefused) {
    const waitsLong = longestMs !== undefined || error.whose === 'app';
    return {
      unavailableForMs: waitsLong ? MOST_UNAVAILABLE_MS : INSTALLATION_OUTAGE_MS,
      longestMs: SIGN_IN_PAUSE_MS,
    };
  }
  return error.kind === 'unavailable' && longestMs !== undefined
    ? { unavailableForMs: MOST_UNAVAILABLE_MS, longestMs }
    : undefined;
}
