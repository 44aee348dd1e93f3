import { associationOf } from '../rules/association.ts';
import type { State } from '../state.ts';
import type {
  Comment,
  Issue,
  Label,
  Milestone,
  Reaction,
  Repository,
  Review,
  ReviewComment,
} from '../world.ts';
import { iso, nodeId, viewAccount, viewApp } from './account.ts';
import { pageUrl, repositoryUrl } from './repository.ts';

export function viewLabel(state: State, repository: Repository, label: Label) {
  return {
    id: label.id,
    node_id: nodeId('Label', label.id),
    url: `${repositoryUrl(state, repository)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: null,
  };
}

export function viewIssue(state: State, issue: Issue) {
  const { repository, pull } = issue;
  const url = `${repositoryUrl(state, repository)}/issues/${issue.number}`;
  const page = `${pageUrl(state, repository)}/${pull ? 'pull' : 'issues'}/${issue.number}`;
  return {
    url,
    repository_url: repositoryUrl(state, repository),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    id: issue.id,
    node_id: nodeId(pull ? 'PullRequest' : 'Issue', issue.id),
    number: issue.number,
    title: issue.title,
    user: viewAccount(state, issue.author),
    labels: issue.labels.map((label) => viewLabel(state, repository, label)),
    state: issue.state,
    locked: false,
    assignee: issue.assignees[0] ? viewAccount(state, issue.assignees[0]) : null,
    assignees: issue.assignees.map((account) => viewAccount(state, account)),
    milestone: issue.milestone ? viewMilestone(state, repository, issue.milestone) : null,
    comments: issue.comments.length,
    created_at: iso(issue.createdAt),
    updated_at: iso(issue.updatedAt),
    closed_at: issue.closedAt ? iso(issue.closedAt) : null,
    closed_by: issue.closedBy ? viewAccount(state, issue.closedBy) : null,
    author_association: associationOf(state, repository, issue.author, pull ? 'pull request' : 'comment'),
    active_lock_reason: null,
    ...(pull
      ? {
          draft: pull.draft,
          pull_request: {
            url: `${repositoryUrl(state, repository)}/pulls/${issue.number}`,
            html_url: page,
            diff_url: `${page}.diff`,
            patch_url: `${page}.patch`,
            merged_at: pull.merged ? iso(pull.merged.at) : null,
          },
        }
      : {}),
    body: issue.body,
    reactions: viewReactionCounts(url, []),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: viaApp(state, issue.author),
    state_reason: issue.stateReason,
  };
}

export function viewMilestone(state: State, repository: Repository, milestone: Milestone) {
  const { id, number, title, state: standing } = milestone;
  return {
    url: `${repositoryUrl(state, repository)}/milestones/${number}`,
    html_url: `${pageUrl(state, repository)}/milestone/${number}`,
    id,
    node_id: nodeId('Milestone', id),
    number,
    title,
    state: standing,
  };
}

export function viewComment(state: State, comment: Comment) {
  const { issue } = comment;
  const url = `${repositoryUrl(state, issue.repository)}/issues/comments/${comment.id}`;
  const kind = issue.pull ? 'pull' : 'issues';
  return {
    url,
    html_url: `${pageUrl(state, issue.repository)}/${kind}/${issue.number}#issuecomment-${comment.id}`,
    issue_url: `${repositoryUrl(state, issue.repository)}/issues/${issue.number}`,
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    user: viewAccount(state, comment.author),
    created_at: iso(comment.createdAt),
    updated_at: iso(comment.updatedAt),
    author_association: associationOf(state, issue.repository, comment.author, 'comment'),
    body: comment.body,
    reactions: viewReactionCounts(url, comment.reactions),
    ...(state.commentsNameApps ? { performed_via_github_app: viaApp(state, comment.author) } : {}),
  };
}

function viewReactionCounts(url: string, reactions: readonly Reaction[]) {
  const count = (content: string) => reactions.filter((reaction) => reaction.content === content).length;
  return {
    url: `${url}/reactions`,
    total_count: reactions.length,
    '+1': count('+1'),
    '-1': count('-1'),
    laugh: count('laugh'),
    hooray: count('hooray'),
    confused: count('confused'),
    heart: count('heart'),
    rocket: count('rocket'),
    eyes: count('eyes'),
  };
}

export function viewReaction(state: State, reaction: Reaction) {
  return {
    id: reaction.id,
    node_id: nodeId('Reaction', reaction.id),
    user: viewAccount(state, reaction.author),
    content: reaction.content,
    created_at: iso(reaction.createdAt),
  };
}

/** A review as the API lists it; webhooks write its state in lower case. */
export function viewReview(state: State, issue: Issue, review: Review) {
  const page = `${pageUrl(state, issue.repository)}/pull/${issue.number}`;
  const url = `${repositoryUrl(state, issue.repository)}/pulls/${issue.number}`;
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: viewAccount(state, review.author),
    body: review.body,
    state: review.state,
    html_url: `${page}#pullrequestreview-${review.id}`,
    pull_request_url: url,
    author_association: associationOf(state, issue.repository, review.author, 'comment'),
    _links: {
      html: { href: `${page}#pullrequestreview-${review.id}` },
      pull_request: { href: url },
    },
    submitted_at: iso(review.submittedAt),
    commit_id: review.commitSha,
  };
}

export function viewReviewComment(state: State, issue: Issue, review: Review, comment: ReviewComment) {
  const { repository } = issue;
  const url = `${repositoryUrl(state, repository)}/pulls/comments/${comment.id}`;
  return {
    url,
    id: comment.id,
    node_id: nodeId('PullRequestReviewComment', comment.id),
    pull_request_review_id: review.id,
    path: comment.path,
    line: comment.line,
    side: comment.side,
    start_line: comment.startLine,
    start_side: comment.startLine === null ? null : comment.side,
    commit_id: review.commitSha,
    original_commit_id: review.commitSha,
    diff_hunk: comment.hunk,
    ...(comment.replyTo && { in_reply_to_id: comment.replyTo.id }),
    user: viewAccount(state, comment.replyTo?.by ?? review.author),
    body: comment.body,
    created_at: iso(review.submittedAt),
    updated_at: iso(review.submittedAt),
    html_url: `${pageUrl(state, repository)}/pull/${issue.number}#discussion_r${comment.id}`,
    pull_request_url: `${repositoryUrl(state, repository)}/pulls/${issue.number}`,
    author_association: associationOf(state, repository, review.author, 'comment'),
  };
}

function viaApp(state: State, author: Comment['author']) {
  const app = state.appOfBot(author);
  return app ? viewApp(state, app) : null;
}
