import { unreachable } from '../core/errors.ts';
import { redact } from '../core/redact/redact.ts';
import type { CheckRunContent, ClosingReason, EffectOf, OpenGateContent } from '../domain/effect/effect.ts';
import type { MergeMethod } from '../domain/first-look/answers.ts';
import type { Push } from '../domain/policy/authorship.ts';
import type { Mergeability } from '../domain/policy/conflict.ts';
import type { Discussion } from '../domain/policy/discussion.ts';
import type { Review } from '../domain/policy/facts/reviews.ts';
import type { GateProof, MergeProof } from '../domain/policy/merge-gate.ts';
import type { WrittenComment } from '../domain/policy/own-comment.ts';
import type { PolledComment } from '../domain/policy/question-watch.ts';
import type { RepositoryRole } from '../domain/policy/role.ts';
import type { Grants } from '../domain/self-check/finding.ts';
import type { WebhookRegistration } from '../domain/self-check/judge.ts';

/** A repository as requests to GitHub name it. */
export interface Repo {
  owner: string;
  name: string;
}

export interface PullRequest extends Mergeability {
  number: number;
  repositoryId: number;
  defaultBranch: string;
  title: string;
  body: string;
  author: Person;
  state: 'open' | 'closed';
  /** When it was closed, merged or not; `null` while it is open. */
  closedAt: Date | null;
  merged: boolean;
  mergeCommitSha: string | null;
  /** Who merged it: a person with the button, this app, or the merge queue; `null` before the merge. */
  mergedBy: Person | null;
  draft: boolean;
  headSha: string;
  headRef: string;
  /** `owner/name` of the head's repository; `null` if the fork was deleted. */
  headRepository: string | null;
  headRepositoryId: number | null;
  baseRef: string;
  baseSha: string;
  labels: string[];
  changedFiles: number;
  authorAssociation: string;
  updatedAt: Date;
}

export interface Person {
  id: number;
  login: string;
  type: 'User' | 'Bot' | 'Organization' | 'Mannequin';
}

export interface Collaborator {
  person: Person;
  role: RepositoryRole;
}

export interface PullRequestFile {
  path: string;
  previousPath?: string;
  status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'changed' | 'unchanged';
  patch?: string;
  blobSha: string | null;
  additions: number;
  deletions: number;
  /** The head that the list was made for, if GitHub says so; a push in between changes it. */
  headSha: string | null;
}

export interface Commit {
  sha: string;
  message: string;
  /** `null` if GitHub knows no account for the address in the commit. */
  author: Person | null;
  committer: Person | null;
  authorEmail: string | null;
  committerEmail: string | null;
  /** Whether GitHub verified the commit's signature. */
  verified: boolean;
}

/** A commit as git stores it. */
export interface GitCommit {
  sha: string;
  tree: string;
  parents: string[];
  message: string;
  author: { name: string; email: string; date: string };
}

/** The accounts that GitHub credits with a commit: its author, and the co-authors that its message names. */
export interface CommitCredit {
  sha: string;
  authors: { id: number; login: string }[];
  /** How many more authors have an address without an account. */
  unknown: number;
}

export interface CheckRunFacts {
  id: number;
  name: string;
  appId: number | null;
  status: string;
  conclusion: string | null;
  startedAt: Date | null;
  completedAt: Date | null;
  url: string | null;
  suiteId: number | null;
  /** The workflow run that the check is a job of; `null` for checks of apps other than GitHub Actions. */
  workflowRunId: number | null;
  externalId: string | null;
  /** The beginnings of the check's own description, as its app wrote them. */
  title: string | null;
  summary: string | null;
}

/** A job of a workflow with its steps, in order. */
export interface WorkflowJob {
  name: string;
  steps: {
    name: string;
    /** GitHub's own word, such as `success` or `skipped`; `null` while the step is running. */
    conclusion: string | null;
    startedAt: Date | null;
    completedAt: Date | null;
  }[];
}

/** All checks of one app for a commit. Some of its jobs may not have a check run yet. */
export interface CheckSuiteFacts {
  appId: number | null;
  appName: string;
  status: string;
  /** The number of its check runs so far. */
  checkRuns: number;
}

export interface StatusFacts {
  /** Left out where it was read by GraphQL, which does not show it. */
  id?: number;
  context: string;
  state: 'error' | 'failure' | 'pending' | 'success';
  description: string | null;
  url: string | null;
  createdAt: Date | null;
  /** Whether this app set it. It then says what a chain decided, and nothing about the code. */
  isOwn: boolean;
}

/** Files that a workflow run uploaded, as one archive. */
export interface WorkflowArtifact {
  id: number;
  name: string;
  /** The workflow run. A newer artifact of the run with the same name replaces the older one. */
  runId: number;
  headSha: string;
}

/** One execution of a workflow. */
interface WorkflowRun {
  /** GitHub's own word, such as `success`; `null` while it runs. */
  conclusion: string | null;
  url: string;
}

/** A check that the base branch's protection or rules require. */
export interface RequiredCheck {
  name: string;
  /** The only app whose check counts, if the rule names one. */
  appId: number | null;
}

export interface Reaction {
  id: number;
  person: Person;
  content: string;
  createdAt: Date;
}

export interface CommentFacts {
  id: number;
  /** GitHub's global id, which GraphQL uses; `null` if the server names none. */
  nodeId: string | null;
  body: string;
  author: Person;
  /**
   * The app that it was written through. People can also write through an app, and some servers do not name
   * it.
   */
  viaAppId: number | null;
  /** The number of each reaction. */
  reactions: Readonly<Record<string, number>>;
}

export interface Milestone {
  number: number;
  title: string;
}

/** What has changed: a pull request, a branch, or otherwise the checks of some commit. */
export interface Changed {
  pullRequest?: number;
  branch?: string;
}

/** What one query showed of a pull request. */
export interface Prefetched {
  /**
   * A reader that answers from the query: reviews, commits, checks and statuses of the head, the comment with its
   * reactions, and the tips of the base, the default branch and the organisation's own repository. `rest` reads
   * everything else, and what the query did not show completely.
   */
  over(rest: GitHubReader): GitHubReader;
  /** `undefined` if it is closed, or the query did not show it. */
  pullRequest: PullRequest | undefined;
  /** Absent if the query did not show it. REST shows no conversations. */
  discussion?: Discussion | undefined;
}

/** How many comments one request can poll. */
export const MAX_POLLED = 300;

export interface TreeEntry {
  path: string;
  type: 'file' | 'dir' | 'other';
  sha: string;
  size: number;
}

/** A conversation on a line that this app began. */
export interface OwnThread {
  path: string;
  /** In the newest head, as far as GitHub can tell; `null` for a comment on the whole file. */
  line: number | null;
  /** The end of the diff's hunk, up to the line, as it was at the commit that the first comment is about. */
  hunk: string;
  commitSha: string;
  /** Oldest first; the first is this app's. */
  comments: readonly { id: number; login: string; body: string }[];
}

/** A repository on which the app is installed. */
export interface InstalledRepository extends Repo {
  id: number;
  defaultBranch: string;
  /** GitHub accepts no writes: archived, or disabled by GitHub. */
  readOnly: boolean;
  /** Everybody who can reach the server may read it. */
  isPublic: boolean;
}

/** A pull request in GitHub's list, with enough data to see whether it changed. */
export interface ListedPullRequest {
  number: number;
  state: 'open' | 'closed';
  merged: boolean;
  updatedAt: Date;
}

/** An open pull request in GitHub's list. */
export interface OpenPullRequest {
  number: number;
  title: string;
  author: Person;
  draft: boolean;
  labels: string[];
  updatedAt: Date;
}

/** One attempt of GitHub to send a webhook to this app. */
export interface DeliveryAttempt {
  id: number;
  /** Identifies the event; all attempts share it. */
  guid: string;
  deliveredAt: Date;
  /** This app's response status; 0 if GitHub received no response. */
  statusCode: number;
}

/** A pull request in the merge queue of a branch. */
export interface MergeQueueEntry {
  /** From 1, which merges first. */
  position: number;
  /**
   * The commit that GitHub tests for this entry: the base with this pull request and all before it; `null`
   * until it exists.
   */
  groupSha: string | null;
  number: number;
  headSha: string;
  baseRef: string;
}

export interface QueuedPullRequest {
  /** GitHub's global id, which GraphQL uses. */
  nodeId: string;
  isQueued: boolean;
}

export type EnqueueResult = { kind: 'done' } | { kind: 'refused'; message: string };

/** The result of a merge call. Every response that GitHub documents is a case. */
export type MergeResult =
  | { kind: 'merged'; sha: string }
  /** 409: the head is no longer the one that was countersigned. */
  | { kind: 'head_moved' }
  /** 405: not mergeable, with GitHub's sentence. */
  | { kind: 'not_mergeable'; message: string }
  /** 403, 404, 422: GitHub refuses, and a retry would not help. */
  | { kind: 'refused'; status: number; message: string };

/**
 * Reads from GitHub. Everything is read again for each decision, with conditional requests, so that unchanged
 * data costs nothing. Nothing from a webhook's payload is trusted. All methods reject with `GitHubError`.
 */
export interface GitHubReader {
  /** `mergeMethods`: those that the repository allows; absent where GitHub does not show them, as to people who only read. */
  repository(repo: Repo): Promise<{ id: number; defaultBranch: string; mergeMethods?: MergeMethod[] }>;
  pullRequest(repo: Repo, number: number): Promise<PullRequest>;
  /** Up to 3,000 files, GitHub's limit; `truncated` if there are more. */
  pullRequestFiles(repo: Repo, number: number): Promise<{ files: PullRequestFile[]; truncated: boolean }>;
  /** Up to 250 commits, GitHub's limit; `truncated` if there are more. */
  pullRequestCommits(repo: Repo, number: number): Promise<{ commits: Commit[]; truncated: boolean }>;
  /**
   * The accounts that GitHub credits with each commit. A commit whose list of authors GitHub truncates is
   * left out.
   */
  commitCredits(repo: Repo, number: number): Promise<CommitCredit[]>;
  /**
   * The newest 100 pushes to a branch. A push without a named account is left out, so callers must handle
   * missing ones. Some servers do not have this list (`not_found`).
   */
  pushes(repo: Repo, branch: string): Promise<Push[]>;
  /** All submitted reviews, oldest first; `truncated` if there are more than 1,000. */
  pullRequestReviews(repo: Repo, number: number): Promise<{ reviews: Review[]; truncated: boolean }>;
  /** A blob's bytes; `undefined` if it is larger than `maxBytes`. */
  blob(repo: Repo, sha: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Files and folders directly below a folder; `undefined` if there is no such folder, repository or access.
   */
  folder(repo: Repo, path: string, ref?: string): Promise<TreeEntry[] | undefined>;
  /** One file of a commit or branch; `undefined` if it does not exist or is not a file. */
  file(repo: Repo, path: string, ref: string): Promise<TreeEntry | undefined>;
  /**
   * Every file of a commit or branch, by path; `undefined` if there is no such repository, commit or access.
   */
  tree(repo: Repo, ref: string): Promise<TreeEntry[] | undefined>;
  /** @throws GitHubError `not_found` if there is no such commit */
  commit(repo: Repo, sha: string): Promise<GitCommit>;
  /** The commit at a branch's tip; `undefined` if there is no such branch. */
  branchTip(repo: Repo, branch: string): Promise<string | undefined>;
  checkRuns(repo: Repo, sha: string): Promise<CheckRunFacts[]>;
  /**
   * The newest 100 commits that changed a file or folder, or anything at all, from a commit or branch backwards; newest
   * first.
   */
  history(repo: Repo, path: string | undefined, ref: string): Promise<Commit[]>;
  /** The check suites of one app. */
  checkSuites(repo: Repo, sha: string, appId: number): Promise<CheckSuiteFacts[]>;
  statuses(repo: Repo, sha: string): Promise<StatusFacts[]>;
  requiredChecks(repo: Repo, branch: string): Promise<RequiredCheck[]>;
  /** The entries of a branch's merge queue, in order; empty if the branch has no queue. */
  mergeQueue(repo: Repo, branch: string): Promise<MergeQueueEntry[]>;
  queued(repo: Repo, number: number): Promise<QueuedPullRequest>;
  /**
   * The types of the ruleset rules that apply to a branch, such as `pull_request`; empty where GitHub shows
   * none.
   */
  branchRules(repo: Repo, branch: string): Promise<string[]>;
  /** The jobs of the latest attempt of a workflow run. Needs the permission `actions: read`. */
  workflowJobs(repo: Repo, runId: number): Promise<WorkflowJob[]>;
  /** Needs the permission `actions: read`. */
  workflowRun(repo: Repo, runId: number): Promise<WorkflowRun>;
  /** The artifacts of a workflow run, at most 100. Needs the permission `actions: read`. */
  artifactsOfRun(repo: Repo, runId: number): Promise<WorkflowArtifact[]>;
  /** The artifacts with that name, newest first, at most 300. Needs the permission `actions: read`. */
  workflowArtifacts(repo: Repo, name: string): Promise<WorkflowArtifact[]>;
  /** The zip archive of an artifact; `undefined` if it is larger than `maxBytes`, or deleted. */
  workflowArchive(repo: Repo, id: number, maxBytes: number): Promise<Uint8Array | undefined>;
  comment(repo: Repo, id: number): Promise<CommentFacts | undefined>;
  reactions(repo: Repo, commentId: number): Promise<Reaction[]>;
  /**
   * Approval comments of any repositories, in one request and in the given order; `undefined` for each that
   * GitHub does not show.
   * @param nodeIds at most `MAX_POLLED`
   */
  polledComments(nodeIds: readonly string[]): Promise<(PolledComment | undefined)[]>;
  /**
   * Reads an open pull request, its head and a comment in one query. Does not fail: without an answer, everything is
   * read as usual. For one attempt only, because it shows one moment.
   * @param about `headSha`: the head if left out. `recent`: accepts the answer of another attempt, asked at most a
   * second ago and after the last reported change of the pull request, or also of its checks. Never for a merge.
   */
  prefetched(
    repo: Repo,
    number: number,
    about: {
      headSha?: string;
      commentNodeId?: string | undefined;
      recent?: 'without checks' | 'with checks';
    },
  ): Promise<Prefetched>;
  role(repo: Repo, login: string): Promise<RepositoryRole>;
  /**
   * The account that currently has the login, and its role; `undefined` if there is none or GitHub does not
   * say.
   */
  collaborator(repo: Repo, login: string): Promise<Collaborator | undefined>;
  isTeamMember(organisation: string, team: string, login: string): Promise<boolean>;
  /** The collaborators with write access or more, up to 1,000; `truncated` if there are more. */
  writers(repo: Repo): Promise<{ collaborators: Collaborator[]; truncated: boolean }>;
  /**
   * The members of a team and of its child teams, up to 300; `truncated` if there are more. `undefined` if GitHub
   * does not show the team.
   */
  teamMembers(
    organisation: string,
    team: string,
  ): Promise<{ people: Person[]; truncated: boolean } | undefined>;
  /** Whether GitHub lets this person be assigned to issues and pull requests of the repository. */
  isAssignable(repo: Repo, login: string): Promise<boolean>;
  /** The first 300 open milestones. */
  openMilestones(repo: Repo): Promise<Milestone[]>;
  issue(repo: Repo, number: number): Promise<{ state: 'open' | 'closed' }>;
  /**
   * This app's own issues with the label, open and closed; `undefined` if the repository has no issues.
   */
  ownIssues(repo: Repo, label: string): Promise<OwnIssue[] | undefined>;
  /** The texts of this app's own reviews of a pull request, and their comments. */
  ownReviewTexts(repo: Repo, number: number): Promise<{ reviews: string[]; comments: OwnReviewComment[] }>;
  /**
   * A conversation on a line that this app began; `undefined` if it is gone, or somebody else began it.
   * @param first the id of its first comment
   */
  ownThread(repo: Repo, number: number, first: number): Promise<OwnThread | undefined>;
  /** The conversations on lines of a pull request that nobody has resolved, of any author: the first 500. */
  openThreads(repo: Repo, number: number): Promise<OpenThread[]>;
  /** Every repository that the installation covers. */
  repositories(): Promise<InstalledRepository[]>;
  /** The numbers of the pull requests that were opened last, open or closed, newest first. */
  newestPullRequests(repo: Repo, count: number): Promise<number[]>;
  /**
   * The open pull requests that have not changed after that time, the one without a change for longest first, up to 300;
   * `truncated` if there are more.
   */
  pullRequestsUnchangedSince(
    repo: Repo,
    moment: Date,
  ): Promise<{ pullRequests: OpenPullRequest[]; truncated: boolean }>;
  /** The pull requests that changed after that time, open or closed, in the order of their changes. */
  pullRequestsChangedAfter(repo: Repo, moment: Date): Promise<ListedPullRequest[]>;
}

interface AppRegistration extends Grants {
  name: string;
  /** The login of the account that it belongs to. */
  owner: string;
  /** Its page on GitHub. */
  url: string;
}

/** The app on an account. Its grants are those that the account's owner has accepted. */
export interface AppInstallation extends Grants {
  id: number;
  owner: string;
  suspended: boolean;
}

/** Requests about the app itself, authenticated as the app and not as an installation. */
export interface GitHubApp {
  /** The app as it is registered. @throws SignInRefused if GitHub does not accept the app's key */
  registration(): Promise<AppRegistration>;
  /** How GitHub is set to send webhooks of the app. */
  webhook(): Promise<WebhookRegistration>;
  installations(): Promise<AppInstallation[]>;
  /** The installation that covers a repository; refused with `not_found` if there is none. */
  installationOf(repo: Repo): Promise<number>;
  /**
   * A page of the attempts of the last three days or so, newest first; `next` leads to older ones.
   * @param cursor from the previous page; GitHub refuses one that it no longer knows (`invalid`)
   */
  deliveryAttempts(cursor?: string): Promise<{ attempts: DeliveryAttempt[]; next: string | undefined }>;
  /** Requests another attempt, which arrives as a webhook. */
  redeliver(attemptId: number): Promise<void>;
  /** A token that can only read the files of one repository, for an hour. */
  readToken(installationId: number, repositoryId: number): Promise<string>;
}

/** `nothing`: the branch has the change already. */
export interface Backported {
  result: 'opened' | 'conflict' | 'nothing';
  /** Of the pull request. */
  number?: number;
  url?: string;
}

export interface Released {
  result: 'released' | 'found';
  id?: number;
  url?: string;
}

/** Whose review is requested: logins, and slugs of teams. */
interface ReviewRequest {
  people: readonly string[];
  teams: readonly string[];
}

interface NewIssue {
  title: string;
  body: string;
  assignees: readonly string[];
}

export interface NewReview {
  /** The commit whose lines the comments name. */
  headSha: string;
  body: string;
  comments: readonly { path: string; startLine: number; line: number; body: string }[];
}

/** A comment of this app's on lines of a pull request. */
export interface OwnReviewComment {
  id: number;
  path: string;
  body: string;
}

/** A conversation on lines of a pull request. */
export interface OpenThread {
  /** GitHub's global id. */
  id: string;
  /** The id of the comment that began it. */
  firstComment: number;
}

/** An issue that this app opened. */
export interface OwnIssue {
  number: number;
  body: string;
  /** `null` while it is open. */
  closedAt: string | null;
  /** Why it is closed, in GitHub's word. */
  reason: string | null;
}

/** Writes to GitHub. Only `engine/effects` has one. */
/** A write that can share a request with others of the same repository. */
export type SharedWrite =
  | { kind: 'create_check_run'; content: CheckRunContent }
  | { kind: 'update_check_run'; id: number; nodeId: string | undefined; content: CheckRunContent }
  | { kind: 'create_comment'; issue: number; body: string }
  | { kind: 'update_comment'; id: number; nodeId: string | undefined; body: string };

/** Sends a write in a request of its own. */
export async function writeAlone(
  writer: Pick<GitHubWriter, 'createCheckRun' | 'updateCheckRun' | 'createComment' | 'updateComment'>,
  repo: Repo,
  write: SharedWrite,
): Promise<Written> {
  switch (write.kind) {
    case 'create_check_run':
      return writer.createCheckRun(repo, write.content);
    case 'update_check_run':
      await writer.updateCheckRun(repo, write.id, write.content);
      return {};
    case 'create_comment':
      return writer.createComment(repo, write.issue, write.body);
    case 'update_comment':
      await writer.updateComment(repo, write.id, write.body);
      return {};
    default:
      return unreachable(write);
  }
}

/** What GitHub answers to a write: of something new, its id. */
export interface Written {
  id?: number;
  nodeId?: string | undefined;
  url?: string | undefined;
  authorId?: number | undefined;
}

/** A check run of this app. */
interface WrittenCheckRun {
  id: number;
  nodeId: string | undefined;
  url: string | undefined;
}

export interface GitHubWriter {
  /**
   * Sends several writes in one request if that is possible. Each succeeds or fails for itself, as if it had been
   * sent alone. The results are in their order.
   */
  writeTogether(repo: Repo, writes: readonly SharedWrite[]): Promise<PromiseSettledResult<Written>[]>;
  createCheckRun(repo: Repo, content: CheckRunContent): Promise<WrittenCheckRun>;
  /** `annotations` has only those that were not sent before, because GitHub appends them. */
  updateCheckRun(repo: Repo, id: number, content: CheckRunContent, nodeId?: string): Promise<void>;
  /** This app's check run with that external id on that commit, created after the one with the id `after`. */
  findCheckRun(
    repo: Repo,
    headSha: string,
    externalId: string,
    after: number,
  ): Promise<(WrittenCheckRun & { annotations: number }) | undefined>;
  createComment(repo: Repo, issue: number, body: string): Promise<WrittenComment>;
  updateComment(repo: Repo, id: number, body: string, nodeId?: string): Promise<'updated' | 'gone'>;
  /** Shows a comment collapsed, as outdated. A refusal changes nothing. */
  minimizeComment(nodeId: string): Promise<void>;
  /** This app's own comment with the marker, if it exists. */
  findComment(repo: Repo, issue: number, marker: string): Promise<WrittenComment | undefined>;
  react(repo: Repo, commentId: number, content: 'eyes' | 'hooray' | 'confused'): Promise<void>;
  label(repo: Repo, issue: number, labels: readonly string[]): Promise<void>;
  createIssue(repo: Repo, issue: NewIssue): Promise<number>;
  /** @param edit `reopen`: it is closed, and is opened again */
  updateIssue(
    repo: Repo,
    number: number,
    edit: { title: string; body: string; reopen: boolean },
  ): Promise<'updated' | 'gone'>;
  /** This app's own issue with the marker that was opened since then, if it exists. */
  findIssue(repo: Repo, marker: string, since: Date): Promise<number | undefined>;
  /** Submits a review that neither approves nor requests changes. GitHub takes all comments or none. */
  createReview(repo: Repo, pullRequest: number, review: NewReview): Promise<number>;
  /** Changes the text of a comment of a review. */
  updateReviewComment(repo: Repo, id: number, body: string): Promise<'updated' | 'gone'>;
  /** @param thread the first comment of the conversation. @returns the reply's id */
  replyInThread(repo: Repo, pullRequest: number, thread: number, body: string): Promise<number>;
  /** The id of this app's comment on a line that begins with the marker. */
  findReviewComment(repo: Repo, pullRequest: number, marker: string): Promise<number | undefined>;
  /** Marks a conversation as resolved. A refusal changes nothing. */
  resolveThread(id: string): Promise<void>;
  /** This app's own review with the marker, if it exists. */
  findReview(repo: Repo, pullRequest: number, marker: string): Promise<number | undefined>;
  /** Adds assignees. Those who are assigned already stay. */
  assign(repo: Repo, issue: number, people: readonly string[]): Promise<void>;
  setMilestone(repo: Repo, issue: number, milestone: number): Promise<void>;
  /** Closes an issue or pull request that is open. One that is closed or merged stays as it is. */
  close(repo: Repo, issue: number, reason: ClosingReason | null): Promise<void>;
  /** Requests reviews, from all of them or from nobody. `teams` are slugs of the owner's teams. */
  requestReviews(repo: Repo, pullRequest: number, requested: ReviewRequest): Promise<void>;
  /**
   * Whether any of them is requested now or has submitted a review since then. A request is made for all or
   * nobody, so one is enough.
   */
  wasReviewRequested(
    repo: Repo,
    pullRequest: number,
    requested: ReviewRequest,
    since: Date,
  ): Promise<boolean>;
  /**
   * Turns a gate check green, for exactly the head and base of the proof.
   * @throws GitHubError `unavailable` if the proof is stale; nothing was sent then
   */
  passGate(proof: GateProof, checkRunId: number, content: OpenGateContent): Promise<void>;
  /** Adds exactly the pull request of the proof to the merge queue of its base. */
  enqueue(proof: MergeProof, nodeId: string): Promise<EnqueueResult>;
  /** Removes a pull request from its merge queue. Does nothing if it is in none. */
  dequeue(nodeId: string): Promise<void>;
  /** Merges exactly the head and base of the proof, once. A failure is never retried here. */
  merge(proof: MergeProof, message: { title?: string; message?: string }): Promise<MergeResult>;
  /**
   * Deletes a branch if its tip is still this commit. `kept`: it has moved, is gone, or GitHub refuses because it is protected.
   */
  deleteBranch(repo: Repo, branch: string, sha: string): Promise<'deleted' | 'kept'>;
  /**
   * Copies a change to another branch, as a commit on a new branch and a pull request from it. Finds what an earlier
   * attempt has made. Moves no branch that exists.
   */
  backport(repo: Repo, change: EffectOf<'backport'>): Promise<Backported>;
  /**
   * Merges the base branch into the head. `current`: it has everything already. `moved`: the head is another one, which can be
   * the one that an earlier attempt has made.
   */
  updateBranch(repo: Repo, of: EffectOf<'update_branch'>): Promise<'updated' | 'current' | 'moved'>;
  /**
   * Starts a workflow on a branch.
   * @param again an earlier attempt may have started it
   * @throws GitHubError `invalid` also if it is not known which run it is, or whether there is one
   */
  startWorkflow(repo: Repo, of: EffectOf<'dispatch'>, again: boolean): Promise<{ id: number; url: string }>;
  /** @param again an earlier attempt may have made it, so it is looked for first */
  setStatus(repo: Repo, status: EffectOf<'status'>, again: boolean): Promise<void>;
  /** Makes a release and its tag. Finds a release of that tag, and leaves it as it is. */
  release(repo: Repo, wanted: EffectOf<'release'>): Promise<Released>;
}

/**
 * How urgent a request is, most urgent first. When GitHub's limits run low, the last kinds stop first.
 * `person`: a person waits, for a merge, a command's reply or anything written. `run`: a run needs it to
 * continue. `background`: checks for missed changes.
 */
export const URGENCIES = ['person', 'run', 'background'] as const;
export type Urgency = (typeof URGENCIES)[number];

export interface GitHub {
  readonly appId: number;
  readonly app: GitHubApp;
  /** @param urgency `run` if left out */
  reader(installationId: number, urgency?: Urgency): GitHubReader;
  /** @param urgency `person` if left out */
  writer(installationId: number, urgency?: Urgency): GitHubWriter;
  /** GitHub has reported a change, so what was read before is not recent any more. */
  changed(installationId: number, repo: Repo, what: Changed): void;
  /**
   * Reserves what a job's requests will cost of the installation's points and returns `undefined`, or returns
   * when the job should ask again. It waits in the queue and not while it runs, so that it holds no place.
   */
  turn(installationId: number, request: Turn): Date | undefined;
}

/** What a job asks for before its first request. */
interface Turn {
  /** The same for the same job, which keeps its place. */
  job: string;
  urgency: Urgency;
  /** Roughly: a read costs one, a write five. */
  points: number;
}

/** The address of a repository for git, and a token to read it. */
export interface GitAccess {
  /** Such as `https://github.com/acme/shop.git`. */
  url: string;
  token: string;
}

/** Limits that GitHub refused requests because of, remembered for after a restart and for the process that has the installation next. */
export interface LimitMemory {
  recall(installationId: number): Promise<{ pauseUntil: Date } | undefined>;
  /** @param refusal `ofWrite`: the request that was refused would have written */
  note(installationId: number, refusal: { pauseUntil: Date; ofWrite: boolean }): Promise<void>;
}

/** One response of GitHub, for metrics. */
export interface AnsweredRequest {
  /** `undefined` for requests about the app itself. */
  installationId: number | undefined;
  /** Method and route with parameter names instead of values, so that there are few different ones. */
  route: string;
  /** 0 if there was no response. */
  status: number;
  durationMs: number;
  /** A 304, which does not count towards the hourly limit. */
  revalidated: boolean;
  /** GitHub refused it because of a rate limit. */
  limited: boolean;
}

/** An installation's remaining requests for this hour, as last reported by GitHub. */
export interface BudgetFigures {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/** GitHub refuses authentication: of the app itself, or for one of its installations. */
export interface SignedOut {
  /** `undefined` for the app itself, and therefore for all of its installations. */
  installationId: number | undefined;
  since: Date;
  /** Of GitHub's latest response. */
  status: number;
}

/** The rate limits of an installation or of the app itself. */
export interface RateLimitStatus {
  /** `undefined` for the app itself, which has separate limits. */
  installationId: number | undefined;
  /** `undefined` before GitHub's first response, and after the reported hour is over. */
  hour: BudgetFigures | undefined;
  /** The same for GraphQL, which counts points instead of requests. */
  graphql: BudgetFigures | undefined;
  /** GitHub asked the app to wait until then. */
  heldUntil: Date | undefined;
  inFlight: number;
  /** Requests waiting in the rate limiter. */
  waiting: Record<Urgency, number>;
}

/** Why a request failed, in categories for callers. */
export type GitHubErrorKind =
  /** 404 or 410: deleted, hidden, or not there yet. */
  | 'not_found'
  /** 403: this app lacks permission. */
  | 'forbidden'
  /** A primary or secondary limit, or our own reserve for more urgent work. Retry after `retryAt`. */
  | 'rate_limited'
  /** 422 and other 4xx: the request itself is wrong. */
  | 'invalid'
  /** 5xx, time-out, connection reset, a response that is not JSON: retry. */
  | 'unavailable';

export class GitHubError extends Error {
  readonly kind: GitHubErrorKind;
  readonly status: number;
  readonly retryAt: Date | undefined;

  constructor(
    kind: GitHubErrorKind,
    status: number,
    message: string,
    retryAt?: Date,
    options?: ErrorOptions,
  ) {
    super(redact(message), options);
    this.name = 'GitHubError';
    this.kind = kind;
    this.status = status;
    this.retryAt = retryAt;
  }
}

/**
 * GitHub refused authentication, so the request was not sent. This says nothing about its subject. Work waits
 * until it passes.
 */
export class SignInRefused extends GitHubError {
  /**
   * `app`: GitHub does not accept the app's own key (a rotated key, a deleted App, a wrong clock).
   * `installation`: it does, but refuses a token for this installation, which is suspended or removed, or
   * GitHub's replicas disagree for a while.
   */
  readonly whose: 'app' | 'installation';

  constructor(whose: SignInRefused['whose'], status: number, message: string, options?: ErrorOptions) {
    super('unavailable', status, message, undefined, options);
    this.name = 'SignInRefused';
    this.whose = whose;
  }
}
