import { type Reason, reason } from '../../domain/explanation/reason.ts';
import { type Run, repoOf } from '../../domain/run/run.ts';
import { type GitHub, GitHubError, SignInRefused } from '../../ports/github.ts';

/**
 * Why a run can reach nothing on GitHub any more although no webhook told of it, by the error for which the queue gave up on
 * one of its sessions; `undefined` when it is not known to be so. Only what was not found costs a request: a step may ask for
 * something that is not there, and the repository itself is what tells the two apart.
 */
export async function outOfReach(github: GitHub, run: Run, error: unknown): Promise<Reason | undefined> {
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
