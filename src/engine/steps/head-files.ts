import { GitHubError, type PullRequestFile } from '../../ports/github.ts';
import { pullRequestOf, type StepContext } from './step.ts';

/**
 * The files that the run's head changes. GitHub lists those of the pull request's current head. A verdict on
 * the files of another head would be wrong, and somebody could push a harmless head to get one, so such a
 * list is rejected.
 * @throws GitHubError `unavailable`, which the queue retries; meanwhile, the run of the newer head supersedes
 * this one
 */
export async function filesOfHead(
  context: StepContext,
): Promise<{ files: PullRequestFile[]; truncated: boolean }> {
  const { reader, repo, state } = context;
  const { headSha } = state.run;
  const list = await reader.pullRequestFiles(repo, pullRequestOf(context));
  const filesWithHead = list.files.filter((file) => file.status !== 'removed' && file.headSha !== null);
  const isOther =
    filesWithHead.length > 0
      ? filesWithHead.some((file) => file.headSha !== headSha)
      : (await reader.pullRequest(repo, pullRequestOf(context))).headSha !== headSha;
  if (isOther) throw new GitHubError('unavailable', 0, 'GitHub listed the files of another head');
  return list;
}
