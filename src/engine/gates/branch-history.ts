import type { GitHubReader, Repo } from '../../ports/github.ts';

/**
 * Whether a commit is on a branch of the repository, among its newest 100 commits. A check names a branch, but that of a workflow for a
 * fork's pull request can be a branch of the fork, which its owner may name like one of the repository:
 * https://github.com/github/codeql/blob/main/actions/ql/lib/ext/config/untrusted_event_properties.yml (`head_branch`).
 */
export async function isOnBranch(
  reader: Pick<GitHubReader, 'branchTip' | 'history'>,
  repo: Repo,
  branch: string,
  sha: string,
): Promise<boolean> {
  const tip = await reader.branchTip(repo, branch);
  if (tip === undefined || tip === sha) return tip === sha;
  return (await reader.history(repo, undefined, tip)).some((commit) => commit.sha === sha);
}
