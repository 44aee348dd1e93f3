import { GitHubError } from './github.ts';

/** How long GitHub may be away before work that needs it is given up, in milliseconds: longer than its worst outages so far. */
const PATIENCE_MS = 24 * 3_600_000;
const TRY_AGAIN_MS = 30_000;

/**
 * When work that the queue gives up is worth another round of its tries: GitHub was away or a limit spent, and not for too
 * long. `undefined` when it is not.
 * @param since when the work came, or first waited
 * @param pauseMs until that round, in milliseconds
 */
export function waitsFor(error: unknown, since: Date, now: Date, pauseMs = TRY_AGAIN_MS): Date | undefined {
  if (!(error instanceof GitHubError)) return undefined;
  if (error.kind !== 'unavailable' && error.kind !== 'rate_limited') return undefined;
  if (now.getTime() - since.getTime() >= PATIENCE_MS) return undefined;
  return error.retryAt ?? new Date(now.getTime() + pauseMs);
}
