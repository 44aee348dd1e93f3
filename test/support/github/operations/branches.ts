import { ancestorsOf, commitsBetween } from '../git/history.ts';
import type { Commit, FileInput, Signature } from '../git/objects.ts';
import { forkPoint } from '../rules/mergeability.ts';
import { emailOf, type State } from '../state.ts';
import { viewAccount } from '../views/account.ts';
import { viewPushedCommit } from '../views/commit.ts';
import { viewFullPull } from '../views/pull.ts';
import { pageUrl, viewRepository } from '../views/repository.ts';
import type { Account, PullRequest, Repository } from '../world.ts';
import { disableAutoMergeOfOthers } from './auto-merge.ts';
import { requestSuite } from './checks.ts';
import { emit } from './emit.ts';
import { setIssueState } from './issues.ts';

const NO_COMMIT = '0'.repeat(40);

export interface CommitInput {
  repository: Repository;
  /** Commit to build on. */
  parent: string;
  author: Account;
  /** The author by default. */
  committer?: Account | undefined;
  /** Replaces who wrote or committed the commit, as `Name <e-mail>`: git lets anybody write anything here. */
  writtenAs?: string | undefined;
  committedAs?: string | undefined;
  message: string;
  /** Logins, or whole `Name <e-mail>` texts. */
  coAuthors?: readonly string[] | undefined;
  files: Record<string, FileInput | null>;
}

/** Stores a commit on top of another, without moving any branch. */
export function writeCommit(state: State, input: CommitInput): Commit {
  const { git } = input.repository;
  return git.writeCommit({
    parents: [input.parent],
    author: signed(state.signature(input.author), input.writtenAs),
    committer: signed(state.signature(input.committer ?? input.author), input.committedAs ?? input.writtenAs),
    message: withTrailers(state, input.message, input.coAuthors ?? []),
    files: git.writeFiles(git.commitAt(input.parent).files, input.files),
  });
}

function signed(signature: Signature, as: string | undefined): Signature {
  const [, name, email] = /^(.*) <(.*)>$/.exec(as ?? '') ?? [];
  return name === undefined || email === undefined ? signature : { ...signature, name, email };
}

function withTrailers(state: State, message: string, coAuthors: readonly string[]): string {
  if (coAuthors.length === 0) return message;
  const trailers = coAuthors.map((who) => {
    if (who.includes('<')) return `Co-authored-by: ${who}`;
    const account = state.account(who);
    return `Co-authored-by: ${account.login} <${emailOf(account)}>`;
  });
  return `${message}\n\n${trailers.join('\n')}`;
}

/**
 * Points a branch at a commit and does what GitHub does after a push: `push`, a check suite for the app, `synchronize` for each
 * open pull request whose head moved, and the closing of pull requests that the push merged.
 */
export function moveBranch(
  state: State,
  repository: Repository,
  branch: string,
  sha: string,
  by: Account,
): void {
  const before = repository.branches.get(branch);
  const open = state.pullRequests().filter((pr) => pr.state === 'open');
  const incoming = open
    .filter((pr) => pr.repository === repository && pr.pull.base.ref === branch && !pr.pull.merged)
    .map((pr) => ({ pr, parted: forkPoint(pr) }));
  repository.branches.set(branch, sha);
  repository.pushedAt = state.now();
  noteMove(state, repository, branch, before, sha, by);
  emitPush(state, repository, branch, before, sha, by);
  requestSuite(state, repository, branch, sha, by);
  for (const pr of open) {
    if (pr.pull.head.repository === repository && pr.pull.head.ref === branch) moveHead(state, pr, sha, by);
  }
  const contained = ancestorsOf(repository.git, sha);
  for (const { pr, parted } of incoming) {
    if (!contained.has(pr.pull.head.sha)) continue;
    pr.pull.merged = { at: state.now(), by, method: 'merge', sha, mergeBase: parted };
    setIssueState(state, pr, by, 'closed');
  }
}

/**
 * Deletes a branch, and closes the pull requests from it or into it. GitHub sends a `push` whose new commit is all zeros.
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/deleting-and-restoring-branches-in-a-pull-request
 */
export function deleteBranch(state: State, repository: Repository, branch: string, by: Account): void {
  const before = repository.branches.get(branch);
  if (before === undefined) return;
  repository.branches.delete(branch);
  emit(state, { repository, sender: by }, 'push', {
    ref: `refs/heads/${branch}`,
    before,
    after: NO_COMMIT,
    created: false,
    deleted: true,
    forced: false,
    base_ref: null,
    compare: `${pageUrl(state, repository)}/compare/${before.slice(0, 12)}...${NO_COMMIT.slice(0, 12)}`,
    commits: [],
    head_commit: null,
    pusher: { name: by.login, email: emailOf(by) },
    repository: viewPushedRepository(state, repository),
  });
  for (const pr of state.pullRequests()) {
    const { head, base } = pr.pull;
    const isHead = head.repository === repository && head.ref === branch;
    if (isHead || (pr.repository === repository && base.ref === branch))
      setIssueState(state, pr, by, 'closed');
  }
}

function noteMove(
  state: State,
  repository: Repository,
  branch: string,
  before: string | undefined,
  after: string,
  actor: Account,
): void {
  const isForced = before !== undefined && !ancestorsOf(repository.git, after).has(before);
  repository.activity.push({
    id: repository.activity.length + 1,
    branch,
    before: before ?? NO_COMMIT,
    after,
    type: before === undefined ? 'branch_creation' : isForced ? 'force_push' : 'push',
    actor,
    at: state.now(),
  });
}

function emitPush(
  state: State,
  repository: Repository,
  branch: string,
  before: string | undefined,
  after: string,
  by: Account,
): void {
  const { git } = repository;
  const known = before ?? repository.branches.get(repository.defaultBranch);
  const commits = known === undefined ? [git.commitAt(after)] : commitsBetween(git, known, after);
  const page = pageUrl(state, repository);
  emit(state, { repository, sender: by }, 'push', {
    ref: `refs/heads/${branch}`,
    before: before ?? NO_COMMIT,
    after,
    created: before === undefined,
    deleted: false,
    forced: before !== undefined && !ancestorsOf(git, after).has(before),
    base_ref: null,
    compare:
      before === undefined
        ? `${page}/compare/${branch}`
        : `${page}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    commits: commits.map((commit) => viewPushedCommit(state, repository, commit)),
    head_commit: viewPushedCommit(state, repository, git.commitAt(after)),
    pusher: { name: by.login, email: emailOf(by) },
    repository: viewPushedRepository(state, repository),
  });
}

/** Push payloads have kept an older form: an owner with name and e-mail, times in seconds. */
function viewPushedRepository(state: State, repository: Repository) {
  const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);
  const { owner } = repository;
  return {
    ...viewRepository(state, repository),
    owner: { ...viewAccount(state, owner), name: owner.login, email: emailOf(owner) },
    created_at: seconds(repository.createdAt),
    pushed_at: seconds(repository.pushedAt),
    master_branch: repository.defaultBranch,
  };
}

function moveHead(state: State, pr: PullRequest, after: string, by: Account): void {
  const before = pr.pull.head.sha;
  if (before === after) return;
  pr.pull.head.sha = after;
  pr.pull.base.sha = pr.repository.branches.get(pr.pull.base.ref) ?? pr.pull.base.sha;
  pr.updatedAt = state.now();
  emit(state, { repository: pr.repository, sender: by }, 'pull_request', {
    action: 'synchronize',
    number: pr.number,
    before,
    after,
    pull_request: viewFullPull(state, pr),
  });
  disableAutoMergeOfOthers(state, pr, by);
}
