import { GitHubError, type PullRequestFile } from '../../ports/github.ts';
import { pullRequestOf, type StepContext } from './step.ts';

/**
 * The files that the run's head changes. GitHub lists those of whatever head is there at that moment. A verdict on another head's
 * files would be a verdict on nothing, and somebody could push a harmless head just for it; so such a list is read again.
 * @throws GitHubError `unavailable`, which the queue tries again; a newer head's run supersedes this one meanwhile.
 */
export async function filesOfHead(
  context: StepContext,
): Promise<{ files: PullRequestFile[]; truncated: boolean }> {
  const { reader, repo, state } = context;
  const { headSha } = state.run;
  const list = await reader.pullRequestFiles(repo, pullRequestOf(context));
  const told = list.files.filter((file) => file.status !== 'removed' && file.headSha !== null);
  const isOther =
    told.length > 0
      ? told.some((file) => file.headSha !== headSha)
      : (await reader.pullRequest(repo, pullRequestOf(context))).headSha !== headSha;
  if (isOther) throw new GitHubError('unavailable', 0, 'GitHub listed the files of another head');
  return list;
}
