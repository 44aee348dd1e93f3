import { type Change, changesBetween } from '../git/changes.ts';
import type { Commit, Signature } from '../git/objects.ts';
import type { State } from '../state.ts';
import type { Account, Repository } from '../world.ts';
import { iso, nodeId, viewAccount } from './account.ts';
import { pageUrl, repositoryUrl } from './repository.ts';

/** GitHub finds the account behind a commit by its e-mail; anyone can write any e-mail into a commit. */
export function accountOf(state: State, { email }: Signature): Account | undefined {
  const match = /^(\d+)\+.*@users\.noreply\.github\.com$/.exec(email);
  return match ? state.accountById(Number(match[1])) : state.accountByEmail(email);
}

/** A `commit` as in lists, without `files` and `stats`. */
export function viewCommit(state: State, repository: Repository, commit: Commit) {
  const url = `${repositoryUrl(state, repository)}/commits/${commit.sha}`;
  const page = `${pageUrl(state, repository)}/commit`;
  const person = (who: Signature) => {
    const account = accountOf(state, who);
    return account ? viewAccount(state, account) : null;
  };
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', commit.sha),
    commit: {
      author: viewSignature(commit.author),
      committer: viewSignature(commit.committer),
      message: commit.message,
      tree: { sha: commit.tree, url: `${repositoryUrl(state, repository)}/git/trees/${commit.tree}` },
      url: `${repositoryUrl(state, repository)}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: {
        verified: state.verified.has(commit.sha),
        reason: state.verified.has(commit.sha) ? 'valid' : 'unsigned',
        signature: null,
        payload: null,
        verified_at: null,
      },
    },
    url,
    html_url: `${page}/${commit.sha}`,
    comments_url: `${url}/comments`,
    author: person(commit.author),
    committer: person(commit.committer),
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${repositoryUrl(state, repository)}/commits/${sha}`,
      html_url: `${page}/${sha}`,
    })),
  };
}

/** A commit with what it changed against its first parent. */
export function viewFullCommit(state: State, repository: Repository, commit: Commit) {
  const changes = changesOf(repository, commit);
  const additions = changes.reduce((sum, change) => sum + change.additions, 0);
  const deletions = changes.reduce((sum, change) => sum + change.deletions, 0);
  return {
    ...viewCommit(state, repository, commit),
    stats: { additions, deletions, total: additions + deletions },
    files: changes.map((change) => viewChange(state, repository, commit.sha, change)),
  };
}

/** A `diff-entry`. */
export function viewChange(state: State, repository: Repository, sha: string, change: Change) {
  const path = encodeURI(change.path);
  return {
    sha: change.sha,
    filename: change.path,
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    blob_url: `${pageUrl(state, repository)}/blob/${sha}/${path}`,
    raw_url: `${pageUrl(state, repository)}/raw/${sha}/${path}`,
    contents_url: `${repositoryUrl(state, repository)}/contents/${path}?ref=${sha}`,
    ...(change.patch === undefined ? {} : { patch: change.patch }),
    ...(change.previousPath === undefined ? {} : { previous_filename: change.previousPath }),
  };
}

/** A commit as in push payloads. */
export function viewPushedCommit(state: State, repository: Repository, commit: Commit) {
  const changes = changesOf(repository, commit);
  const paths = (status: Change['status']) =>
    changes.filter((change) => change.status === status).map((change) => change.path);
  const renamed = changes.filter((change) => change.status === 'renamed');
  return {
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message,
    timestamp: iso(commit.committer.date),
    url: `${pageUrl(state, repository)}/commit/${commit.sha}`,
    author: { ...pushedPerson(state, commit.author) },
    committer: { ...pushedPerson(state, commit.committer) },
    added: [...paths('added'), ...renamed.map((change) => change.path)],
    removed: [...paths('removed'), ...renamed.flatMap((change) => change.previousPath ?? [])],
    modified: paths('modified'),
  };
}

/** A `simple-commit`, as in suites and merge groups. */
export function viewHeadCommit(commit: Commit) {
  const person = ({ name, email }: Signature) => ({ name, email });
  return {
    id: commit.sha,
    tree_id: commit.tree,
    message: commit.message,
    timestamp: iso(commit.committer.date),
    author: person(commit.author),
    committer: person(commit.committer),
  };
}

function pushedPerson(state: State, who: Signature) {
  const account = accountOf(state, who);
  return { name: who.name, email: who.email, ...(account ? { username: account.login } : {}) };
}

export function viewSignature({ name, email, date }: Signature) {
  return { name, email, date: iso(date) };
}

function changesOf({ git }: Repository, commit: Commit): Change[] {
  const [parent] = commit.parents;
  return changesBetween(git, parent === undefined ? new Map() : git.commitAt(parent).files, commit.files);
}
