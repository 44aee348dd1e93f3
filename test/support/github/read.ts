import { type StateAtMerge, stateNow } from './merge-record.ts';
import { checkRunsOf } from './rules/checks.ts';
import type { State } from './state.ts';
import {
  type Annotation,
  type CheckAction,
  type CheckConclusion,
  type CheckStatus,
  type CommitStatus,
  isPullRequest,
  type MergeMethod,
  type ReactionContent,
  type Release,
  type Review,
  type ReviewComment,
  type StartedWorkflow,
  type StateReason,
} from './world.ts';

/** Whether the check run is the app's gate check and not the report of a run. */
export function isGateCheck({ name }: { name: string }): boolean {
  return name.startsWith('countersign: ');
}

export interface SeenPullRequest {
  state: 'open' | 'closed';
  merged: boolean;
  mergedBy?: string;
  mergeMethod?: MergeMethod;
  draft: boolean;
  headSha: string;
  baseRef: string;
  labels: string[];
  title: string;
}

export interface SeenComment {
  id: number;
  author: string;
  /** What it said when it was written. */
  firstBody: string;
  body: string;
  createdAt: Date;
  updatedAt: Date;
  /** Shown collapsed. */
  isMinimized: boolean;
  reactions: { login: string; content: ReactionContent }[];
}

export interface SeenCheckRun {
  id: number;
  name: string;
  /** Slug of the app that made it. */
  app: string;
  status: CheckStatus;
  conclusion: CheckConclusion | null;
  externalId: string;
  title: string | null;
  summary: string | null;
  text: string | null;
  annotations: Pick<Annotation, 'path' | 'startLine' | 'endLine' | 'level' | 'title' | 'message'>[];
  actions: readonly CheckAction[];
}

interface SeenIssue {
  number: number;
  title: string;
  body: string | null;
  author: string;
  state: 'open' | 'closed';
  /** Why it is closed, or that it was reopened. */
  reason: StateReason | null;
  labels: string[];
  assignees: string[];
}

interface SeenReview {
  author: string;
  state: Review['state'];
  body: string;
  headSha: string;
  comments: Pick<ReviewComment, 'path' | 'line' | 'side' | 'startLine' | 'body' | 'isResolved'>[];
}

/** What a person sees on GitHub's pages. Throws for what does not exist. */
export interface Reader {
  pullRequest(repo: string, number: number): SeenPullRequest;
  /** Everything that a merge of it depends on, in its current state. */
  standing(repo: string, number: number): StateAtMerge;
  /** Of a pull request or an issue, oldest first. */
  comments(repo: string, number: number): SeenComment[];
  /** Every run of the commit, oldest first. */
  checkRuns(repo: string, sha: string): SeenCheckRun[];
  reviews(repo: string, number: number): SeenReview[];
  /** Every comment on a line, with its replies. */
  lineComments(repo: string, number: number): { id: number; author: string; body: string }[];
  /** The people and teams whose review is requested now. */
  requestedReviewers(repo: string, number: number): { people: string[]; teams: string[] };
  labels(repo: string, number: number): string[];
  assignees(repo: string, number: number): string[];
  /** The title of the milestone. */
  milestone(repo: string, number: number): string | undefined;
  /** Issues without pull requests, oldest first. */
  issues(repo: string): SeenIssue[];
  /** Text of a file at a branch or commit; `undefined` if it does not exist. */
  fileAt(repo: string, ref: string, path: string): string | undefined;
  /** Oldest first. */
  pullRequests(repo: string): {
    number: number;
    title: string;
    body: string | null;
    author: string;
    headRef: string;
    baseRef: string;
  }[];
  branches(repo: string): string[];
  /** Oldest first. */
  startedWorkflows(repo: string): readonly StartedWorkflow[];
  /** Of the commit, oldest first. */
  statuses(repo: string, sha: string): readonly CommitStatus[];
  /** Tag → commit. */
  tags(repo: string): ReadonlyMap<string, string>;
  /** Oldest first. */
  releases(repo: string): readonly Release[];
  /** The commit at the tip of a branch. */
  branch(repo: string, name: string): string | undefined;
  /** A commit's message, parents and people. */
  commit(
    repo: string,
    ref: string,
  ): { sha: string; message: string; parents: readonly string[]; author: string };
}

export function createReader(state: State): Reader {
  const issue = (repo: string, number: number) => state.issue(state.repository(repo), number);
  return {
    pullRequest(repo, number) {
      const pr = state.pullRequest(state.repository(repo), number);
      const { merged, draft, head, base } = pr.pull;
      return {
        state: pr.state,
        merged: merged !== undefined,
        ...(merged ? { mergedBy: merged.by.login, mergeMethod: merged.method } : {}),
        draft,
        headSha: head.sha,
        baseRef: base.ref,
        labels: pr.labels.map(({ name }) => name),
        title: pr.title,
      };
    },
    pullRequests: (repo) =>
      [...state.repository(repo).issues.values()].filter(isPullRequest).map((pr) => ({
        number: pr.number,
        title: pr.title,
        body: pr.body,
        author: pr.author.login,
        headRef: pr.pull.head.ref,
        baseRef: pr.pull.base.ref,
      })),
    startedWorkflows: (repo) => state.repository(repo).startedWorkflows,
    statuses: (repo, sha) => state.repository(repo).statuses.filter((status) => status.sha === sha),
    tags: (repo) => state.repository(repo).tags,
    releases: (repo) => state.repository(repo).releases,
    branches: (repo) => [...state.repository(repo).branches.keys()],
    standing: (repo, number) => stateNow(state, state.pullRequest(state.repository(repo), number)),
    comments: (repo, number) =>
      issue(repo, number).comments.map(
        ({ id, author, firstBody, body, createdAt, updatedAt, reactions, minimizedReason }) => ({
          id,
          author: author.login,
          firstBody,
          body,
          createdAt,
          updatedAt,
          isMinimized: minimizedReason !== null,
          reactions: reactions.map((reaction) => ({
            login: reaction.author.login,
            content: reaction.content,
          })),
        }),
      ),
    checkRuns: (repo, sha) =>
      checkRunsOf(state.repository(repo), sha, 'all')
        .toReversed()
        .map((run) => ({
          id: run.id,
          name: run.name,
          app: run.suite.app.slug,
          status: run.status,
          conclusion: run.conclusion,
          externalId: run.externalId,
          title: run.title,
          summary: run.summary,
          text: run.text,
          annotations: run.annotations.map(({ path, startLine, endLine, level, title, message }) => ({
            path,
            startLine,
            endLine,
            level,
            title,
            message,
          })),
          actions: run.actions,
        })),
    lineComments: (repo, number) =>
      state
        .pullRequest(state.repository(repo), number)
        .pull.reviews.flatMap(({ author, comments }) =>
          comments.map(({ id, replyTo, body }) => ({ id, author: (replyTo?.by ?? author).login, body })),
        ),
    reviews: (repo, number) =>
      state
        .pullRequest(state.repository(repo), number)
        .pull.reviews.map(({ author, state: verdict, body, commitSha, comments }) => ({
          author: author.login,
          state: verdict,
          body,
          headSha: commitSha,
          comments: comments.map(({ path, line, side, startLine, isResolved, body: text }) => ({
            isResolved,
            path,
            line,
            side,
            startLine,
            body: text,
          })),
        })),
    requestedReviewers(repo, number) {
      const { people, teams } = state.pullRequest(state.repository(repo), number).pull.requested;
      return { people: people.map(({ login }) => login), teams: [...teams] };
    },
    labels: (repo, number) => issue(repo, number).labels.map(({ name }) => name),
    assignees: (repo, number) => issue(repo, number).assignees.map(({ login }) => login),
    milestone: (repo, number) => issue(repo, number).milestone?.title,
    issues: (repo) =>
      [...state.repository(repo).issues.values()]
        .filter(({ pull }) => !pull)
        .map(({ number, title, body, author, state: standing, stateReason, labels, assignees }) => ({
          number,
          title,
          body,
          author: author.login,
          state: standing,
          reason: stateReason,
          labels: labels.map(({ name }) => name),
          assignees: assignees.map(({ login }) => login),
        })),
    fileAt(repo, ref, path) {
      const repository = state.repository(repo);
      const entry = state.resolve(repository, ref)?.files.get(path);
      return entry && repository.git.blob(entry.sha)?.toString();
    },
    branch: (repo, name) => state.repository(repo).branches.get(name),
    commit(repo, ref) {
      const commit = state.resolve(state.repository(repo), ref);
      if (!commit) throw new Error(`${repo} has no commit ${ref}.`);
      const { sha, message, parents, author } = commit;
      return { sha, message, parents, author: author.name };
    },
  };
}
