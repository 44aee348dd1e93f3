import { ApiError } from '../api-error.ts';
import { commitsBetween } from '../git/history.ts';
import { mergeTrees } from '../git/merge.ts';
import type { Commit, FileEntry } from '../git/objects.ts';
import { type MergeRecord, stateNow } from '../merge-record.ts';
import { baseTip, forkPoint, mergedFiles } from '../rules/mergeability.ts';
import { type Bypass, canWrite, mergeQueueOf, violations } from '../rules/requirements.ts';
import type { State } from '../state.ts';
import type { Account, MergeMethod, PullRequest } from '../world.ts';
import { moveBranch } from './branches.ts';
import { setIssueState } from './issues.ts';

export interface MergeInput {
  by: Account;
  method: MergeMethod;
  /** The head that the caller expects; any by default. */
  sha?: string | undefined;
  title?: string | undefined;
  message?: string | undefined;
  /** Bypasses what protection and rulesets require, where it may. */
  bypass?: Bypass | undefined;
  via?: MergeRecord['via'] | undefined;
}

/** How a person presses the button. */
export interface ButtonPress {
  method?: MergeMethod | undefined;
  /** They ticked "Merge without waiting for requirements to be met", which GitHub shows only to people who may. */
  bypass?: boolean | undefined;
}

/** GitHub's answer to whoever pressed it. */
export type ButtonResult =
  | { kind: 'merged'; sha: string }
  | { kind: 'refused'; status: number; message: string };

/** A person presses the merge button: the same rules as for an app, and people below `write` have no such button. */
export function pressMergeButton(
  state: State,
  pr: PullRequest,
  by: Account,
  press: ButtonPress,
): ButtonResult {
  try {
    if (!canWrite(state, pr.repository, by)) {
      const may = 'does not have the correct permissions to execute `MergePullRequest`';
      throw new ApiError(403, `${by.login} ${may}`);
    }
    const bypass = press.bypass ? { by } : undefined;
    return {
      kind: 'merged',
      sha: mergePullRequest(state, pr, { by, method: press.method ?? 'merge', bypass, via: 'button' }),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'refused', status: error.status, message: error.message };
  }
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
  refuseViolations(state, pr, input.bypass);

  const sha = writeMerge(state, pr, tip, files, input);
  markMerged(state, pr, { by: input.by, method: input.method, sha, via: input.via ?? 'api' });
  moveBranch(state, pr.repository, pr.pull.base.ref, sha, input.by);
  setIssueState(state, pr, input.by, 'closed');
  return sha;
}

/** Records that the pull request is merged, before its base branch moves. */
export function markMerged(
  state: State,
  pr: PullRequest,
  { by, method, sha, via }: Pick<MergeRecord, 'method' | 'sha' | 'via'> & { by: Account },
): void {
  const headSha = pr.pull.head.sha;
  state.merges.push({ ...stateNow(state, pr), sha, headSha, by: by.login, method, via });
  pr.pull.merged = { at: state.now(), by, method, sha, mergeBase: forkPoint(pr) };
}

const NAMES: Record<MergeMethod, string> = {
  merge: 'Merge commits',
  squash: 'Squash merges',
  rebase: 'Rebase merges',
};

/** Protection answers with a sentence, rulesets with a list: https://github.com/akuity/kargo/issues/6397 */
function refuseViolations(state: State, pr: PullRequest, bypass: Bypass | undefined): void {
  const queue = mergeQueueOf(state, pr.repository, pr.pull.base.ref, bypass);
  // https://github.com/anza-xyz/kit/pull/94
  const aside = { from: 'ruleset', sentence: 'Changes must be made through the merge queue' } as const;
  const unmet = [...violations(state, pr, bypass), ...(queue ? [aside] : [])];
  const [first] = unmet;
  if (!first) return;
  if (first.from === 'protection') throw new ApiError(405, first.sentence);
  const list = unmet.map(({ sentence }) => `${sentence}\n\n`).join('');
  throw new ApiError(405, `Repository rule violations found\n\n${list}`);
}

/** @returns the commit that brings the pull request onto `tip`. */
export function writeMerge(
  state: State,
  pr: PullRequest,
  tip: string,
  files: ReadonlyMap<string, FileEntry>,
  input: Pick<MergeInput, 'by' | 'method' | 'title' | 'message'>,
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
