import { type Change, changesBetween } from '../git/changes.ts';
import { commitsBetween } from '../git/history.ts';
import { associationOf } from '../rules/association.ts';
import { forkPoint, type Mergeability, mergeability, UNKNOWN } from '../rules/mergeability.ts';
import type { State } from '../state.ts';
import type { AutoMerge, PullRequest, Repository } from '../world.ts';
import { iso, nodeId, viewAccount, viewTeam } from './account.ts';
import { viewLabel } from './issue.ts';
import { pageUrl, repositoryUrl, viewRepository } from './repository.ts';

/** A `pull-request-simple`, as in lists. */
export function viewPull(state: State, pr: PullRequest) {
  const { repository, pull } = pr;
  const url = `${repositoryUrl(state, repository)}/pulls/${pr.number}`;
  const issueUrl = `${repositoryUrl(state, repository)}/issues/${pr.number}`;
  const page = `${pageUrl(state, repository)}/pull/${pr.number}`;
  const statuses = `${repositoryUrl(state, repository)}/statuses/${pull.head.sha}`;
  return {
    url,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issueUrl,
    number: pr.number,
    state: pr.state,
    locked: false,
    title: pr.title,
    user: viewAccount(state, pr.author),
    body: pr.body,
    created_at: iso(pr.createdAt),
    updated_at: iso(pr.updatedAt),
    closed_at: pr.closedAt ? iso(pr.closedAt) : null,
    merged_at: pull.merged ? iso(pull.merged.at) : null,
    merge_commit_sha: pull.merged?.sha ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: pull.requested.people.map((account) => viewAccount(state, account)),
    requested_teams: pull.requested.teams.map((slug) => viewTeam(state, repository.owner.login, slug)),
    labels: pr.labels.map((label) => viewLabel(state, repository, label)),
    milestone: null,
    draft: pull.draft,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${repositoryUrl(state, repository)}/pulls/comments{/number}`,
    comments_url: `${issueUrl}/comments`,
    statuses_url: statuses,
    head: viewEnd(state, pull.head.repository, pull.head),
    base: viewEnd(state, repository, pull.base),
    _links: {
      self: { href: url },
      html: { href: page },
      issue: { href: issueUrl },
      comments: { href: `${issueUrl}/comments` },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: `${repositoryUrl(state, repository)}/pulls/comments{/number}` },
      commits: { href: `${url}/commits` },
      statuses: { href: statuses },
    },
    author_association: associationOf(state, repository, pr.author, 'pull request'),
    auto_merge: pull.autoMerge ? viewAutoMerge(state, pull.autoMerge) : null,
    active_lock_reason: null,
  };
}

/** The fields that only a single pull request has. In webhooks GitHub has not computed `mergeable` yet. */
export function viewFullPull(state: State, pr: PullRequest, merge: Mergeability = UNKNOWN) {
  const { merged } = pr.pull;
  const changes = changesOf(pr);
  return {
    ...viewPull(state, pr),
    merged: merged !== undefined,
    ...merge,
    merged_by: merged ? viewAccount(state, merged.by) : null,
    comments: pr.comments.length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: commitsOf(pr).length,
    additions: changes.reduce((sum, change) => sum + change.additions, 0),
    deletions: changes.reduce((sum, change) => sum + change.deletions, 0),
    changed_files: changes.length,
  };
}

/** What a client gets for `mergeable`: with lazy mergeability, null on the first read after a change. */
export function askMergeability(state: State, pr: PullRequest): Mergeability {
  const { pull, repository } = pr;
  const question = `${pull.head.sha} ${pull.base.ref} ${repository.branches.get(pull.base.ref)}`;
  const asked = pull.mergeabilityAsked === question;
  pull.mergeabilityAsked = question;
  return state.lazyMergeability && !asked ? UNKNOWN : mergeability(state, pr);
}

/** What the pull request changes since it diverged from its base branch. */
export function changesOf(pr: PullRequest): Change[] {
  const { git } = pr.repository;
  return changesBetween(git, git.commitAt(forkPoint(pr)).files, git.commitAt(pr.pull.head.sha).files);
}

export function commitsOf(pr: PullRequest) {
  return commitsBetween(pr.repository.git, forkPoint(pr), pr.pull.head.sha);
}

function viewAutoMerge(state: State, { by, method }: AutoMerge) {
  return {
    enabled_by: viewAccount(state, by),
    merge_method: method,
    commit_title: null,
    commit_message: null,
  };
}

function viewEnd(state: State, repository: Repository, end: { ref: string; sha: string }) {
  return {
    label: `${repository.owner.login}:${end.ref}`,
    ref: end.ref,
    sha: end.sha,
    user: viewAccount(state, repository.owner),
    // A head whose fork was deleted has no repository any more.
    repo: state.repositoryById(repository.id) ? viewRepository(state, repository) : null,
  };
}
