import { redact } from '../core/redact/redact.ts';
import type { CheckRunContent, OpenGateContent } from '../domain/effect/effect.ts';
import type { Push } from '../domain/policy/authorship.ts';
import type { Mergeability } from '../domain/policy/conflict.ts';
import type { Review } from '../domain/policy/facts/reviews.ts';
import type { GateProof, MergeProof } from '../domain/policy/merge-gate.ts';
import type { WrittenComment } from '../domain/policy/own-comment.ts';
import type { RepositoryRole } from '../domain/policy/role.ts';

/** One repository as this app talks about it to GitHub. */
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
  merged: boolean;
  mergeCommitSha: string | null;
  /** Who merged it: a person by the button, this app, or the merge queue; `null` as long as nobody did. */
  mergedBy: Person | null;
  draft: boolean;
  headSha: string;
  headRef: string;
  /** `owner/name` of the head's repository; `null` when the fork was deleted. */
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
  /** The head the list was made for, as far as GitHub tells; a push in between changes it. */
  headSha: string | null;
}

export interface Commit {
  sha: string;
  message: string;
  /** `null` when GitHub knows no account for the address in the commit. */
  author: Person | null;
  committer: Person | null;
  authorEmail: string | null;
  committerEmail: string | null;
  /** Whether GitHub vouches for the commit's signature. */
  verified: boolean;
}

/** The accounts that GitHub credits with a commit: its author, and the co-authors that its message names. */
export interface CommitCredit {
  sha: string;
  authors: { id: number; login: string }[];
  /** How many more of them have an address that is no account's. */
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
  /** The run of a workflow that it is a job of; `null` for checks of all apps but GitHub Actions. */
  workflowRunId: number | null;
  externalId: string | null;
  /** The beginnings of what the check says of itself, as its app wrote them. */
  title: string | null;
  summary: string | null;
}

/** A job of a workflow with what it did, one step after the other. */
export interface WorkflowJob {
  name: string;
  steps: {
    name: string;
    /** GitHub's own word, such as `success` or `skipped`; `null` while it has not ended. */
    conclusion: string | null;
    startedAt: Date | null;
    completedAt: Date | null;
  }[];
}

/** One app's checks of a commit as a whole; it may have jobs left that have no check run yet. */
export interface CheckSuiteFacts {
  appId: number | null;
  appName: string;
  status: string;
  /** How many check runs it has so far. */
  checkRuns: number;
}

export interface StatusFacts {
  context: string;
  state: 'error' | 'failure' | 'pending' | 'success';
  description: string | null;
  url: string | null;
  createdAt: Date | null;
}

/** Files that a workflow run has left behind, as one archive. */
export interface WorkflowArtifact {
  id: number;
  name: string;
  /** The workflow run; its artifacts of one name replace each other. */
  runId: number;
  headSha: string;
}

/** A check that the base branch's protection or rules require. */
export interface RequiredCheck {
  name: string;
  /** The only app whose check counts, when the rule names one. */
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
  body: string;
  author: Person;
  /** The app that it was written through; people can write through one, too, and some servers name none. */
  viaAppId: number | null;
  /** How many of each reaction it has. */
  reactions: Readonly<Record<string, number>>;
}

export interface TreeEntry {
  path: string;
  type: 'file' | 'dir' | 'other';
  sha: string;
  size: number;
}

/** A repository the app is installed on. */
export interface InstalledRepository extends Repo {
  id: number;
  /** GitHub takes no writes for it: archived, or disabled by GitHub itself. */
  readOnly: boolean;
}

/** A pull request as GitHub's list shows it: enough to see that it changed. */
export interface ListedPullRequest {
  number: number;
  state: 'open' | 'closed';
  merged: boolean;
  updatedAt: Date;
}

/** One try of GitHub's at telling this app of something. */
export interface DeliveryAttempt {
  id: number;
  /** Names the event: every further attempt carries it too. */
  guid: string;
  deliveredAt: Date;
  /** What this app answered; 0 when GitHub had no answer. */
  statusCode: number;
}

/** A pull request in the merge queue of a branch. */
export interface MergeQueueEntry {
  /** From 1, the one that merges first. */
  position: number;
  /** The commit that GitHub tests for this entry: the base with this pull request and all before it; `null` until it is made. */
  groupSha: string | null;
  number: number;
  headSha: string;
  baseRef: string;
}

export interface QueuedPullRequest {
  /** GitHub's global id, by which GraphQL names the pull request. */
  nodeId: string;
  isQueued: boolean;
}

export type EnqueueResult = { kind: 'done' } | { kind: 'refused'; message: string };

/** What a merge call came to; every answer GitHub documents is a case. */
export type MergeResult =
  | { kind: 'merged'; sha: string }
  /** 409: the head is not the one that was countersigned any more. */
  | { kind: 'head_moved' }
  /** 405: not mergeable, with GitHub's sentence. */
  | { kind: 'not_mergeable'; message: string }
  /** 403, 404, 422: GitHub refuses for a reason that trying again does not change. */
  | { kind: 'refused'; status: number; message: string };

/**
 * What the app reads from GitHub. Everything is read fresh (with conditional requests, so that what has not changed
 * costs nothing); nothing of a payload is trusted.
 * All methods reject with `GitHubError`.
 */
export interface GitHubReader {
  repository(repo: Repo): Promise<{ id: number; defaultBranch: string }>;
  pullRequest(repo: Repo, number: number): Promise<PullRequest>;
  /** Up to 3,000 files, GitHub's own limit; `truncated` says that there are more. */
  pullRequestFiles(repo: Repo, number: number): Promise<{ files: PullRequestFile[]; truncated: boolean }>;
  /** Up to 250 commits, GitHub's own limit; `truncated` says that there are more. */
  pullRequestCommits(repo: Repo, number: number): Promise<{ commits: Commit[]; truncated: boolean }>;
  /** Whom GitHub credits with each of those commits; one of which it does not tell everybody is left out. */
  commitCredits(repo: Repo, number: number): Promise<CommitCredit[]>;
  /**
   * Who moved a branch, of the newest 100 times; one that GitHub names nobody for is left out. Whoever needs older ones finds
   * that they are missing. Some servers have no such list (`not_found`).
   */
  pushes(repo: Repo, branch: string): Promise<Push[]>;
  /** Every review that was submitted, oldest first; `truncated` says that there are more than 1,000. */
  pullRequestReviews(repo: Repo, number: number): Promise<{ reviews: Review[]; truncated: boolean }>;
  /** A blob's bytes; `undefined` when it is larger than `maxBytes`. */
  blob(repo: Repo, sha: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Files and folders directly below a folder; `undefined` when there is no such folder, repository or access. */
  folder(repo: Repo, path: string, ref?: string): Promise<TreeEntry[] | undefined>;
  /** One file of a commit or branch; `undefined` when there is none, or something else than a file. */
  file(repo: Repo, path: string, ref: string): Promise<TreeEntry | undefined>;
  /** Every file of a commit or branch, by path; `undefined` when there is no such repository, commit or access. */
  tree(repo: Repo, ref: string): Promise<TreeEntry[] | undefined>;
  /** The commit at a branch's tip; `undefined` when there is no such branch. */
  branchTip(repo: Repo, branch: string): Promise<string | undefined>;
  checkRuns(repo: Repo, sha: string): Promise<CheckRunFacts[]>;
  /** The newest 100 commits, from a commit or branch backwards, that changed a file or folder; newest first. */
  history(repo: Repo, path: string, ref: string): Promise<Commit[]>;
  /** The check suites of one app. */
  checkSuites(repo: Repo, sha: string, appId: number): Promise<CheckSuiteFacts[]>;
  statuses(repo: Repo, sha: string): Promise<StatusFacts[]>;
  requiredChecks(repo: Repo, branch: string): Promise<RequiredCheck[]>;
  /** Every entry of a branch's merge queue, in order; none when the branch has no queue. */
  mergeQueue(repo: Repo, branch: string): Promise<MergeQueueEntry[]>;
  queued(repo: Repo, number: number): Promise<QueuedPullRequest>;
  /** The types of the rules that rulesets in force have for a branch, such as `pull_request`; none where GitHub shows none. */
  branchRules(repo: Repo, branch: string): Promise<string[]>;
  /** The jobs of the last attempt at a workflow run. Needs the permission `actions: read`. */
  workflowJobs(repo: Repo, runId: number): Promise<WorkflowJob[]>;
  /** What workflow runs have left under that name, the newest first and at most 300. Needs the permission `actions: read`. */
  workflowArtifacts(repo: Repo, name: string): Promise<WorkflowArtifact[]>;
  /** The zip archive of one; `undefined` when it is larger than `maxBytes`, or gone. */
  workflowArchive(repo: Repo, id: number, maxBytes: number): Promise<Uint8Array | undefined>;
  comment(repo: Repo, id: number): Promise<CommentFacts | undefined>;
  reactions(repo: Repo, commentId: number): Promise<Reaction[]>;
  role(repo: Repo, login: string): Promise<RepositoryRole>;
  /** Who has the login at this moment, and their role; `undefined` when nobody has it, or GitHub does not say who. */
  collaborator(repo: Repo, login: string): Promise<Collaborator | undefined>;
  isTeamMember(organisation: string, team: string, login: string): Promise<boolean>;
  /** Every repository that the installation covers. */
  repositories(): Promise<InstalledRepository[]>;
  /** Those that changed after that moment, open or not, in the order in which they changed. */
  pullRequestsChangedAfter(repo: Repo, moment: Date): Promise<ListedPullRequest[]>;
}

/** What the app asks GitHub about itself, signed in as the app and not as one of its installations. */
export interface GitHubApp {
  installations(): Promise<{ id: number; suspended: boolean }[]>;
  /**
   * A page of the attempts of about three days, newest first; `next` leads to older ones.
   * @param cursor of the page before; GitHub refuses one it does not know any more (`invalid`).
   */
  deliveryAttempts(cursor?: string): Promise<{ attempts: DeliveryAttempt[]; next: string | undefined }>;
  /** Asks for one more attempt; it comes to the webhook by itself. */
  redeliver(attemptId: number): Promise<void>;
  /** A token that can read the files of one repository and nothing else, for an hour. */
  readToken(installationId: number, repositoryId: number): Promise<string>;
}

/** What the app writes to GitHub. Only `effect/` is given one of these. */
export interface GitHubWriter {
  createCheckRun(repo: Repo, content: CheckRunContent): Promise<{ id: number; url: string | undefined }>;
  /** `annotations` are only those not sent before: GitHub appends them. */
  updateCheckRun(repo: Repo, id: number, content: CheckRunContent): Promise<void>;
  /** This app's check run with that external id on that commit, made after the one with the id `after`. */
  findCheckRun(
    repo: Repo,
    headSha: string,
    externalId: string,
    after: number,
  ): Promise<{ id: number; annotations: number; url: string | undefined } | undefined>;
  createComment(repo: Repo, issue: number, body: string): Promise<WrittenComment>;
  updateComment(repo: Repo, id: number, body: string): Promise<'updated' | 'gone'>;
  /** This app's own comment that holds the marker, if it was made before. */
  findComment(repo: Repo, issue: number, marker: string): Promise<WrittenComment | undefined>;
  react(repo: Repo, commentId: number, content: 'eyes' | 'hooray' | 'confused'): Promise<void>;
  label(repo: Repo, issue: number, labels: readonly string[]): Promise<void>;
  /**
   * Turns the gate check with that id green, for exactly the head and base that the proof is about.
   * @throws GitHubError `unavailable` when the proof is stale: nothing was sent then.
   */
  passGate(proof: GateProof, checkRunId: number, content: OpenGateContent): Promise<void>;
  /** Adds exactly what the proof is about to the merge queue of its base. */
  enqueue(proof: MergeProof, nodeId: string): Promise<EnqueueResult>;
  /** Takes a pull request out of its merge queue; one that is in none is no error. */
  dequeue(nodeId: string): Promise<void>;
  /** Merges exactly what the proof is about, once: a failure is never tried again in here. */
  merge(proof: MergeProof, message: { title?: string }): Promise<MergeResult>;
}

/**
 * Who waits for the answer, the most urgent first. When GitHub's limits run low, the last stops first.
 * `person`: somebody waits for it, as for a merge, a command's answer, anything that is written. `run`: what moves a run on.
 * `background`: what is only looked at in case something was missed.
 */
export const URGENCIES = ['person', 'run', 'background'] as const;
export type Urgency = (typeof URGENCIES)[number];

export interface GitHub {
  readonly appId: number;
  readonly app: GitHubApp;
  /** @param urgency `run` when left out */
  reader(installationId: number, urgency?: Urgency): GitHubReader;
  /** Everything written is for people, so its urgency is `person`. */
  writer(installationId: number): GitHubWriter;
}

/** Where git finds a repository, and the token that lets it read there. */
export interface GitAccess {
  /** Such as `https://github.com/acme/shop.git`. */
  url: string;
  token: string;
}

/** One answer of GitHub, for counters. */
export interface AnsweredRequest {
  /** `undefined` for what the app asks about itself. */
  installationId: number | undefined;
  /** Method and route with the names of its parameters, so that there are few of them. */
  route: string;
  /** 0 when there was no answer. */
  status: number;
  durationMs: number;
  /** It was a 304, which costs nothing of the hourly limit. */
  revalidated: boolean;
  /** GitHub refused it because of a limit. */
  limited: boolean;
}

/** What an installation may still ask of GitHub this hour, as far as GitHub has told. */
export interface BudgetFigures {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/** GitHub does not let the app sign in: as itself, or to one of its installations. */
export interface SignedOut {
  /** `undefined` for the app itself, and so for all of its installations. */
  installationId: number | undefined;
  since: Date;
  /** Of GitHub's last answer. */
  status: number;
}

/** How an installation, or the app itself, stands with GitHub's limits. */
export interface RateLimitStatus {
  /** `undefined` for the app itself, whose limits are its own. */
  installationId: number | undefined;
  /** `undefined` before GitHub's first answer, and once what it told is over. */
  hour: BudgetFigures | undefined;
  /** GitHub asked for a break until then. */
  heldUntil: Date | undefined;
  inFlight: number;
  /** Requests that wait for a moment in the lane. */
  waiting: Record<Urgency, number>;
}

/** Why GitHub did not answer as asked, in the terms a caller decides by. */
export type GitHubErrorKind =
  /** 404 or 410: gone, hidden, or not there yet. */
  | 'not_found'
  /** 403: this app may not. */
  | 'forbidden'
  /** Primary or secondary limit, GitHub's or what is kept of it for more urgent work: try after `retryAt`. */
  | 'rate_limited'
  /** 422 and other 4xx: the request itself is wrong. */
  | 'invalid'
  /** 5xx, time-out, reset, an answer that is no JSON: try again. */
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
 * GitHub did not let the app sign in, so it was not asked what it was to be asked. That is a fact about the app, never about the
 * thing that was asked for, and work waits for it to pass.
 */
export class SignInRefused extends GitHubError {
  /**
   * `app`: GitHub does not accept the app's own key (a rotated key, a deleted App, a clock that is wrong). `installation`: it does, but
   * refuses a token of this one: it is suspended or was removed, or GitHub's copies disagree for a while.
   */
  readonly whose: 'app' | 'installation';

  constructor(whose: SignInRefused['whose'], status: number, message: string, options?: ErrorOptions) {
    super('unavailable', status, message, undefined, options);
    this.name = 'SignInRefused';
    this.whose = whose;
  }
}
