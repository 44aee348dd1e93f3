import { ApiError } from './api-error.ts';
import { checkRunsOf, latestStatuses } from './rules/checks.ts';
import type { State } from './state.ts';
import { commitsOf } from './views/pull.ts';
import type { Account, CheckRun, CommitStatus, MergeMethod, PullRequest, ReactionContent } from './world.ts';
import { fullName } from './world.ts';

/**
 * Everything that a merge depends on, at one moment. The stand-in itself records it, so that a test can judge the app without
 * trusting it.
 */
export interface StateAtMerge {
  readonly repo: string;
  readonly number: number;
  readonly at: Date;
  readonly pullRequest: PullRequestState;
  /** The pull request as the API last reported it to the app before this request; absent if the app never read it. */
  readonly lastReported: PullRequestState | undefined;
  readonly author: string;
  /** Those that the merge would add, oldest first. */
  readonly commits: readonly { author: string; committer: string; message: string; at: Date }[];
  /** Oldest first. */
  readonly comments: readonly RecordedComment[];
  /** Login → role, of those who have one. */
  readonly roles: Readonly<Record<string, string>>;
  /** The last report of each check of the head: a conclusion or a status. */
  readonly checks: readonly { app: string; name: string; result: string }[];
}

/** The moment at which the app requested a merge, whatever the answer. */
export interface MergeRequest extends StateAtMerge {
  /** The head that the request named. */
  readonly sha: string | undefined;
  /** GitHub's message when it refused; absent when it merged. */
  refused?: string;
}

/** The moment at which something was merged, whoever or whatever caused it. */
export interface MergeRecord extends StateAtMerge {
  /** The commit that brought it onto the base. */
  readonly sha: string;
  readonly headSha: string;
  readonly by: string;
  readonly method: MergeMethod;
  /** What caused it: a request to the API, a person at the button, or GitHub itself. */
  readonly via: 'api' | 'button' | 'auto-merge' | 'queue';
}

export interface PullRequestState {
  readonly state: 'open' | 'closed';
  readonly draft: boolean;
  readonly headSha: string;
  readonly baseRef: string;
}

export interface RecordedComment {
  readonly id: number;
  readonly author: Person;
  /** Who wrote the current text of the comment: somebody else once it was edited. */
  readonly lastWriter: Person;
  readonly body: string;
  readonly createdAt: Date;
  readonly reactions: readonly { by: Person; content: ReactionContent }[];
}

export type Person = Pick<Account, 'login' | 'type'>;

export function stateOfPullRequest(pr: PullRequest): PullRequestState {
  const { draft, head, base } = pr.pull;
  return { state: pr.state, draft, headSha: head.sha, baseRef: base.ref };
}

/** Records the state, then merges. The answer or the refusal is the merge's own. */
export function recordMerge<T>(state: State, pr: PullRequest, sha: string | undefined, merge: () => T): T {
  const request: MergeRequest = { ...stateNow(state, pr), sha };
  state.mergeRequests.push(request);
  try {
    return merge();
  } catch (error) {
    if (error instanceof ApiError) request.refused = error.message;
    throw error;
  }
}

/** The state now. */
export function stateNow(state: State, pr: PullRequest): StateAtMerge {
  const { repository } = pr;
  const head = pr.pull.head.sha;
  const roles = [...repository.collaborators].map(([id, role]) => [state.accountById(id)?.login ?? '', role]);
  return {
    repo: fullName(repository),
    number: pr.number,
    at: state.now(),
    pullRequest: stateOfPullRequest(pr),
    lastReported: state.lastReported.get(pr),
    author: pr.author.login,
    commits: commitsOf(pr).map(({ author, committer, message }) => ({
      author: author.name,
      committer: committer.name,
      message,
      at: committer.date,
    })),
    comments: pr.comments.map(({ id, author, lastWriter, body, createdAt, reactions }) => ({
      id,
      author: person(author),
      lastWriter: person(lastWriter),
      body,
      createdAt,
      reactions: reactions.map((reaction) => ({ by: person(reaction.author), content: reaction.content })),
    })),
    roles: Object.fromEntries(roles),
    checks: [
      ...checkRunsOf(repository, head, 'latest').map(ofCheckRun),
      ...latestStatuses(repository, head).map(ofStatus),
    ],
  };
}

function person({ login, type }: Account): Person {
  return { login, type };
}

function ofCheckRun({ suite, name, status, conclusion }: CheckRun) {
  return { app: suite.app.slug, name, result: conclusion ?? status };
}

function ofStatus({ creator, context, state }: CommitStatus) {
  return { app: creator.login, name: context, result: state };
}
