import { ApiError } from '../api-error.ts';
import { commitsBetween } from '../git/history.ts';
import { mergeTrees } from '../git/merge.ts';
import type { Commit, FileEntry } from '../git/objects.ts';
import { baseTip, forkPoint, mergedFiles, unmetChecks } from '../rules/mergeability.ts';
import type { State } from '../state.ts';
import { type Account, fullName, type MergeMethod, type PullRequest } from '../world.ts';
import { moveBranch } from './branches.ts';
import { setIssueState } from './issues.ts';

export interface MergeInput {
  by: Account;
  method: MergeMethod;
  /** The head the caller means; any when left out. */
  sha?: string | undefined;
  title?: string | undefined;
  message?: string | undefined;
}

/**
 * Merges, or refuses in GitHub's words: 405 for what cannot be merged, 409 for a head that moved.
 * @returns the commit that the base branch now points at.
 */
export function mergePullRequest(state: State, pr: PullRequest, input: MergeInput): string {
  const tip = baseTip(pr);
  const files = mergedFiles(pr);
  if (pr.state === 'closed' || tip === undefined) throw new ApiError(405, 'Pull Request is not mergeable');
  if (pr.pull.draft) throw new ApiError(405, 'Pull Request is still a draft');
  if (input.sha !== undefined && input.sha !== pr.pull.head.sha)
    throw new ApiError(409, 'Head branch was modified. Review and try the merge again.');
  if (!pr.repository.mergeMethods.has(input.method))
    throw new ApiError(405, `${NAMES[input.method]} are not allowed on this repository.`);
  if (!files) throw new ApiError(405, 'Pull Request is not mergeable');
  refuseUnmetChecks(pr);

  const parted = forkPoint(pr);
  const sha = writeMerge(state, pr, tip, files, input);
  const now = state.now();
  pr.pull.merged = { at: now, by: input.by, method: input.method, sha, mergeBase: parted };
  state.merges.push({
    repo: fullName(pr.repository),
    number: pr.number,
    sha,
    headSha: pr.pull.head.sha,
    by: input.by.login,
    method: input.method,
    at: now,
  });
  moveBranch(state, pr.repository, pr.pull.base.ref, sha, input.by);
  setIssueState(state, pr, input.by, 'closed');
  return sha;
}

const NAMES: Record<MergeMethod, string> = {
  merge: 'Merge commits',
  squash: 'Squash merges',
  rebase: 'Rebase merges',
};

function refuseUnmetChecks(pr: PullRequest): void {
  const unmet = unmetChecks(pr);
  const [first] = unmet;
  if (!first) return;
  const required = pr.repository.requiredChecks.get(pr.pull.base.ref)?.length ?? 0;
  throw new ApiError(
    405,
    unmet.length === 1
      ? `Required status check "${first.context}" is ${first.state}.`
      : `${unmet.length} of ${required} required status checks have not succeeded.`,
  );
}

function writeMerge(
  state: State,
  pr: PullRequest,
  tip: string,
  files: ReadonlyMap<string, FileEntry>,
  input: MergeInput,
): string {
  const { git } = pr.repository;
  const { head } = pr.pull;
  const commits = commitsBetween(git, tip, head.sha);
  const committer = state.signature(input.by);
  if (input.method === 'rebase') return rebase(state, pr, tip, commits, input.by);
  const merge = input.method === 'merge';
  const title =
    input.title ??
    (merge
      ? `Merge pull request #${pr.number} from ${head.repository.owner.login}/${head.ref}`
      : `${pr.title} (#${pr.number})`);
  const message = input.message ?? (merge ? pr.title : squashMessage(commits));
  return git.writeCommit({
    parents: merge ? [tip, head.sha] : [tip],
    author: merge ? committer : state.signature(pr.author),
    committer,
    message: message === '' ? title : `${title}\n\n${message}`,
    files,
  }).sha;
}

function squashMessage(commits: readonly Commit[]): string {
  const [only] = commits;
  if (only && commits.length === 1) return only.message.split('\n').slice(1).join('\n').trim();
  return commits.map((commit) => `* ${commit.message}`).join('\n\n');
}

function rebase(state: State, pr: PullRequest, tip: string, commits: readonly Commit[], by: Account): string {
  const { git } = pr.repository;
  let onto = tip;
  for (const commit of commits.filter(({ parents }) => parents.length < 2)) {
    const [parent = tip] = commit.parents;
    const files = mergeTrees(git, git.commitAt(parent).files, git.commitAt(onto).files, commit.files);
    if (!files) throw new ApiError(405, 'This branch can’t be rebased');
    onto = git.writeCommit({
      parents: [onto],
      author: commit.author,
      committer: state.signature(by),
      message: commit.message,
      files,
    }).sha;
  }
  return onto;
}
