import { CountersignError } from '../../core/errors.ts';
import { GitHubError } from '../../ports/github.ts';

/**
 * Whether what was thrown says nothing of the step: GitHub's passing trouble, a full disk, another worker that took over, or a
 * session that was stopped. It is the queue's to deal with, and no verdict.
 */
export function isPassingTrouble(error: unknown, signal: AbortSignal): boolean {
  if (error instanceof GitHubError || signal.aborted) return true;
  return (
    error instanceof CountersignError &&
    (error.code === 'storage.unavailable' || error.code === 'queue.lease_lost')
  );
}
