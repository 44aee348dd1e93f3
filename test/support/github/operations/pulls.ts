import type { FileInput } from '../git/objects.ts';
import type { State } from '../state.ts';
import { nodeId } from '../views/account.ts';
import { viewReview, viewReviewComment } from '../views/issue.ts';
import { viewFullPull } from '../views/pull.ts';
import type { Account, Pull, PullRequest, Repository, Review, ReviewComment } from '../world.ts';
import { fullName, isPullRequest } from '../world.ts';
import { disableAutoMergeOfOthers } from './auto-merge.ts';
import { moveBranch, writeCommit } from './branches.ts';
import { emit } from './emit.ts';
import { addIssue, announceIssue, setIssueState } from './issues.ts';

export interface OpenPullRequest {
  /** Repository that the pull request goes to, as `owner/name`. */
  repo: string;
  author: string;
  /** Head branch; created on top of the base if it does not exist. */
  branch: string;
  /** The default branch by default. */
  base?: string;
  title: string;
  body?: string;
  /** What the head changes; `null` removes a file. By default, the pull request is opened for a branch as it is. */
  files?: Record<string, FileInput | null>;
  draft?: boolean;
  /** Head repository as `owner/name`, created as a fork on first use; the same repository by default. */
  fork?: string;
  /** Logins, or whole `Name <e-mail>` texts, for Co-authored-by trailers. */
  coAuthors?: readonly string[];
  /** Committer of the commit; the author by default. */
  committer?: string;
  /** Replaces who wrote or committed the commit, as `Name <e-mail>`. */
  writtenAs?: string;
  committedAs?: string;
  /** Who pushes the branch; the author by default. */
  pusher?: string;
}

/** Pushes the head branch, then opens the pull request. */
export function openPullRequest(state: State, input: OpenPullRequest): PullRequest {
  const repository = state.repository(input.repo);
  const author = state.account(input.author);
  const base = input.base ?? repository.defaultBranch;
  const tip = repository.branches.get(base);
  if (tip === undefined) throw new Error(`${input.repo} has no branch ${base}.`);
  const head = input.fork === undefined ? repository : forkOf(state, repository, input.fork);
  const asItIs = input.files === undefined ? head.branches.get(input.branch) : undefined;
  const sha =
    asItIs ??
    writeCommit(state, {
      repository: head,
      parent: head.branches.get(input.branch) ?? tip,
      author,
      committer: input.committer === undefined ? undefined : state.account(input.committer),
      writtenAs: input.writtenAs,
      committedAs: input.committedAs,
      message: input.title,
      coAuthors: input.coAuthors,
      files: input.files ?? {},
    }).sha;
  const pusher = input.pusher === undefined ? author : state.account(input.pusher);
  if (asItIs === undefined) moveBranch(state, head, input.branch, sha, pusher);
  const { title, body, draft } = input;
  return proposeMerge(state, repository, {
    author,
    title,
    body,
    draft,
    head: { repository: head, ref: input.branch, sha },
    base: { ref: base, sha: tip },
  });
}

/** Opens a pull request for commits that are already pushed. */
export function proposeMerge(
  state: State,
  repository: Repository,
  input: Pick<Pull, 'head' | 'base'> & {
    author: Account;
    title: string;
    body?: string | undefined;
    draft?: boolean | undefined;
  },
): PullRequest {
  const { author, title, head, base } = input;
  const pull: Pull = {
    id: state.nextId('issue'),
    head,
    base,
    draft: input.draft ?? false,
    merged: undefined,
    autoMerge: undefined,
    reviews: [],
    requested: { people: [], teams: [] },
    mergeabilityAsked: undefined,
  };
  const issue = addIssue(state, repository, { author, title, body: input.body ?? null, pull });
  if (!isPullRequest(issue)) throw new Error('A pull request must have a pull.');
  announceIssue(state, issue, author, 'opened');
  return issue;
}

function forkOf(state: State, parent: Repository, name: string): Repository {
  const [owner = '', short = ''] = name.split('/');
  const known = state.findRepository(owner, short);
  if (known && known.git !== parent.git) throw new Error(`${name} is not a fork of ${fullName(parent)}.`);
  return (
    known ??
    state.addRepository({ owner, name: short, defaultBranch: parent.defaultBranch, files: {} }, parent)
  );
}

export interface PullRequestEdit {
  title?: string | undefined;
  body?: string | null | undefined;
  base?: string | undefined;
}

/** Changes title, body or base; `edited` has the earlier values. */
export function editPullRequest(state: State, pr: PullRequest, by: Account, edit: PullRequestEdit): void {
  const changes: Record<string, object> = {};
  if (edit.title !== undefined && edit.title !== pr.title) {
    changes.title = { from: pr.title };
    pr.title = edit.title;
  }
  if (edit.body !== undefined && edit.body !== pr.body) {
    changes.body = { from: pr.body };
    pr.body = edit.body;
  }
  if (edit.base !== undefined && edit.base !== pr.pull.base.ref) {
    const sha = pr.repository.branches.get(edit.base);
    if (sha === undefined) throw new Error(`${fullName(pr.repository)} has no branch ${edit.base}.`);
    changes.base = { ref: { from: pr.pull.base.ref }, sha: { from: pr.pull.base.sha } };
    pr.pull.base = { ref: edit.base, sha };
    disableAutoMergeOfOthers(state, pr, by);
  }
  if (Object.keys(changes).length === 0) return;
  pr.updatedAt = state.now();
  announceIssue(state, pr, by, 'edited', { changes });
}

/** Reopens a closed pull request at the commit that its branch has now. */
export function reopenPullRequest(state: State, pr: PullRequest, by: Account): void {
  if (pr.pull.merged) throw new Error(`#${pr.number} is merged: it cannot be opened again.`);
  pr.pull.head.sha = pr.pull.head.repository.branches.get(pr.pull.head.ref) ?? pr.pull.head.sha;
  setIssueState(state, pr, by, 'open');
}

export function setDraft(state: State, pr: PullRequest, by: Account, draft: boolean): void {
  if (pr.pull.draft === draft) return;
  pr.pull.draft = draft;
  pr.updatedAt = state.now();
  announceIssue(state, pr, by, draft ? 'converted_to_draft' : 'ready_for_review');
}

/** Dismisses a review, as people with write access can. */
export function dismissReview(state: State, pr: PullRequest, id: number, by: Account): void {
  const review = pr.pull.reviews.find((one) => one.id === id);
  if (!review) throw new Error(`#${pr.number} has no review ${id}.`);
  review.state = 'DISMISSED';
  emit(state, { repository: pr.repository, sender: by }, 'pull_request_review', {
    action: 'dismissed',
    review: { ...viewReview(state, pr, review), state: 'dismissed' },
    pull_request: viewFullPull(state, pr),
  });
}

/** Somebody replies in a conversation on a line. @param first its first comment. @returns the reply's id; `undefined` without such a conversation */
export function replyInConversation(
  state: State,
  pr: PullRequest,
  first: number,
  by: Account,
  body: string,
): number | undefined {
  const review = pr.pull.reviews.find(({ comments }) => comments.some((comment) => comment.id === first));
  const begin = review?.comments.find((comment) => comment.id === first);
  if (!review || !begin || begin.replyTo) return undefined;
  const reply: ReviewComment = {
    ...begin,
    id: state.nextId('comment'),
    body,
    replyTo: { id: first, by },
  };
  review.comments.push(reply);
  emit(state, { repository: pr.repository, sender: by }, 'pull_request_review_comment', {
    action: 'created',
    comment: viewReviewComment(state, pr, review, reply),
    pull_request: viewFullPull(state, pr),
  });
  return reply.id;
}

/**
 * Marks a conversation of the pull request as resolved, or not. Its author may, and everybody who can write.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review_thread
 */
export function resolveConversation(
  state: State,
  pr: PullRequest,
  id: number,
  by: Account,
  isResolved: boolean,
): void {
  const review = pr.pull.reviews.find(({ comments }) => comments.some((comment) => comment.id === id));
  const comment = review?.comments.find((one) => one.id === id);
  if (!review || !comment) throw new Error(`#${pr.number} has no conversation ${id}.`);
  if (comment.isResolved === isResolved) return;
  comment.isResolved = isResolved;
  emit(state, { repository: pr.repository, sender: by }, 'pull_request_review_thread', {
    action: isResolved ? 'resolved' : 'unresolved',
    thread: {
      node_id: nodeId('PullRequestReviewThread', comment.id),
      comments: [viewReviewComment(state, pr, review, comment)],
    },
    pull_request: viewFullPull(state, pr),
  });
}

export function addReview(
  state: State,
  pr: PullRequest,
  author: Account,
  verdict: Review['state'],
  body: string,
  comments: readonly ReviewComment[] = [],
): Review {
  const review: Review = {
    id: state.nextId('review'),
    author,
    state: verdict,
    body,
    commitSha: pr.pull.head.sha,
    submittedAt: state.now(),
    comments: [...comments],
  };
  pr.pull.reviews.push(review);
  // A review, also one that only comments, ends the request for it:
  // https://docs.github.com/en/rest/pulls/review-requests#get-all-requested-reviewers-for-a-pull-request
  const { people } = pr.pull.requested;
  if (people.includes(author)) people.splice(people.indexOf(author), 1);
  emit(state, { repository: pr.repository, sender: author }, 'pull_request_review', {
    action: 'submitted',
    review: { ...viewReview(state, pr, review), state: verdict.toLowerCase() },
    pull_request: viewFullPull(state, pr),
  });
  return review;
}
