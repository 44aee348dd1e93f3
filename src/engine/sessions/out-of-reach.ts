import { type Reason, reason } from '../../domain/explanation/reason.ts';
import { type Run, repoOf } from '../../domain/run/run.ts';
import { type GitHub, GitHubError, SignInRefused } from '../../ports/github.ts';

/**
 * Why a run lost its access to GitHub without a webhook about it, derived from the error that exhausted the
 * retries of one of its sessions; `undefined` if it may still have access. Only a "not found" costs a
 * request: a step can ask for something that does not exist, and reading the repository distinguishes the
 * two.
 */
export async function lostAccess(github: GitHub, run: Run, error: unknown): Promise<Reason | undefined> {
  if (isOf('forbidden', error) || error instanceof SignInRefused) {
    return reason(
      'run.aborted.shut_out',
      'GitHub refuses this app: it was removed or suspended, or lost a permission',
    );
  }
  if (!isOf('not_found', error)) return undefined;
  try {
    await github.reader(run.installationId).repository(repoOf(run));
  } catch (readError) {
    if (isOf('not_found', readError)) {
      return reason(
        'run.aborted.repository_gone',
        'GitHub does not find the repository any more: it was deleted, or taken out of the app’s reach',
      );
    }
  }
  return undefined;
}

function isOf(kind: GitHubError['kind'], error: unknown): boolean {
  return error instanceof GitHubError && error.kind === kind;
}
