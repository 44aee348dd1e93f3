import { CountersignError } from '../../core/errors.ts';
import { GitHubError } from '../../ports/github.ts';

/**
 * Whether an error says nothing about the step: a temporary failure of GitHub, a full disk, another worker
 * that took over, or a stopped session. The queue handles it, and it is no verdict.
 */
export function isTemporaryFailure(error: unknown, signal: AbortSignal): boolean {
  if (error instanceof GitHubError || signal.aborted) return true;
  return (
    error instanceof CountersignError &&
    (error.code === 'storage.unavailable' || error.code === 'queue.lease_lost')
  );
}
