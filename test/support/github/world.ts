import type { GitObjects } from './git/objects.ts';

/** The state of the stand-in: what GitHub's database would hold. Views turn it into JSON, operations change it. */

export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read';
export type MergeMethod = 'merge' | 'squash' | 'rebase';
export type CheckStatus = 'queued' | 'in_progress' | 'completed';
export type CheckConclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
  | 'stale';
export type StatusState = 'error' | 'failure' | 'pending' | 'success';
export type PermissionLevel = 'read' | 'write' | 'admin';
export type Permissions = Readonly<Record<string, PermissionLevel>>;

export const REACTIONS = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'] as const;
export type ReactionContent = (typeof REACTIONS)[number];

export interface Account {
  readonly id: number;
  readonly login: string;
  readonly type: 'User' | 'Bot' | 'Organization';
  readonly createdAt: Date;
  /** Beside the address that GitHub gives everybody. */
  email?: string;
}

export interface App {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly owner: Account;
  readonly bot: Account;
  readonly permissions: Permissions;
  readonly createdAt: Date;
}

export interface Installation {
  readonly id: number;
  readonly account: Account;
  /** Ids of the chosen repositories; `undefined` for all of the account's. */
  readonly selected: Set<number> | undefined;
  readonly createdAt: Date;
  suspendedAt?: Date | undefined;
}

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

export interface Repository {
  readonly id: number;
  readonly owner: Account;
  name: string;
  /** GitHub accepts no writes for it. */
  archived?: boolean;
  private: boolean;
  readonly defaultBranch: string;
  readonly mergeMethods: ReadonlySet<MergeMethod>;
  /** "Allow auto-merge". */
  autoMergeAllowed: boolean;
  readonly git: GitObjects;
  /** Branch name → commit. */
  readonly branches: Map<string, string>;
  /** Account id → role. */
  readonly collaborators: Map<number, Role>;
  /** Branch name → its protection, the older of GitHub's two ways to protect a branch. */
  readonly protections: Map<string, Protection>;
  /** The newer way: rules for every branch that a pattern names. Oldest first. */
  readonly rulesets: Ruleset[];
  /** Branch name → its merge queue, first to last. */
  readonly queues: Map<string, QueueEntry[]>;
  readonly labels: Map<string, Label>;
  readonly milestones: Milestone[];
  readonly issues: Map<number, Issue>;
  readonly checkSuites: CheckSuite[];
  readonly statuses: CommitStatus[];
  /** Every move of a branch, oldest first. */
  readonly activity: BranchMove[];
  /** Tag → commit. */
  readonly tags: Map<string, string>;
  /** Oldest first. */
  readonly releases: Release[];
  /** Oldest first. */
  readonly startedWorkflows: StartedWorkflow[];
  /** Oldest first. */
  readonly workflowArtifacts: WorkflowArtifact[];
  readonly parent: Repository | undefined;
  readonly createdAt: Date;
  pushedAt: Date;
  updatedAt: Date;
}

/** One move of a branch, as in GitHub's list of activity. */
interface BranchMove {
  readonly id: number;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
  readonly type: 'push' | 'force_push' | 'branch_creation';
  readonly actor: Account;
  readonly at: Date;
}

/** A status check that must pass before a merge. */
export interface RequiredCheck {
  readonly context: string;
  /** The only app whose check counts; `null` for any. */
  readonly appId: number | null;
}

/** What a merge requires, in either of the two ways. */
export interface Requirements {
  readonly checks: readonly RequiredCheck[];
  /** The head must contain everything of the base. */
  readonly strict: boolean;
  /** How many approving reviews it requires. */
  readonly approvals: number;
  /** Every conversation must be resolved. */
  readonly conversations: boolean;
}

export interface Protection extends Requirements {
  /** "Do not allow bypassing the above settings": it applies to administrators too. */
  readonly enforceAdmins: boolean;
}

export interface Ruleset extends Requirements {
  readonly id: number;
  readonly name: string;
  /** Names of branches, in which `*` matches any text; `~DEFAULT_BRANCH` and `~ALL` as on GitHub. */
  readonly branches: readonly string[];
  /** Roles that may bypass it. */
  readonly bypass: readonly Role[];
  /** What only people who may bypass it can do. */
  readonly restrict: readonly Restriction[];
  /** Every merge goes through a merge queue. */
  readonly mergeQueue: MergeQueueRule | undefined;
}

/**
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
 */
export type Restriction = 'creations' | 'updates' | 'deletions';

/** https://docs.github.com/en/rest/repos/rules: the parameters of `merge_queue`. */
export interface MergeQueueRule {
  readonly method: MergeMethod;
  /** How long a group waits for its checks before it counts as failed. */
  readonly checkResponseTimeoutMinutes: number;
  readonly maxEntriesToBuild: number;
  /** `HEADGREEN`: a group whose own checks failed is still merged if a later one that contains it is green. */
  readonly groupingStrategy: 'ALLGREEN' | 'HEADGREEN';
}

/** A pull request in a merge queue. */
export interface QueueEntry {
  readonly id: number;
  readonly pr: PullRequest;
  readonly by: Account;
  readonly headSha: string;
  readonly enqueuedAt: Date;
  /** `undefined` until GitHub has made the commit that is checked. */
  group: MergeGroup | undefined;
}

/** What would land: the pull request on top of everything before it in the queue, on a branch of its own. */
interface MergeGroup {
  readonly branch: string;
  readonly headSha: string;
  readonly baseSha: string;
  readonly since: Date;
}

/** A run of a workflow that the API has started. */
export interface StartedWorkflow {
  readonly id: number;
  readonly workflow: string;
  readonly branch: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  conclusion: CheckConclusion | null;
}

export interface Release {
  readonly id: number;
  readonly tag: string;
  readonly name: string;
  readonly body: string;
  readonly draft: boolean;
  readonly prerelease: boolean;
  /** The commit or branch that a draft's tag will name. */
  readonly target: string;
}

/** An artifact of a workflow run; its archive is on another host, as on GitHub. */
interface WorkflowArtifact {
  readonly id: number;
  readonly name: string;
  readonly headSha: string;
  readonly runId: number;
  readonly archiveUrl: string;
  readonly createdAt: Date;
  readonly expired: boolean;
}

export type StateReason = 'completed' | 'not_planned' | 'duplicate' | 'reopened';

export interface Milestone {
  readonly id: number;
  readonly number: number;
  readonly title: string;
  state: 'open' | 'closed';
}

/** An issue; a pull request is an issue with a `pull`, as on GitHub. */
export interface Issue {
  readonly id: number;
  readonly number: number;
  readonly repository: Repository;
  readonly author: Account;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  readonly labels: Label[];
  readonly assignees: Account[];
  milestone: Milestone | undefined;
  readonly comments: Comment[];
  readonly createdAt: Date;
  updatedAt: Date;
  closedAt: Date | undefined;
  closedBy: Account | undefined;
  /** Why it is closed, or that it was reopened. Pull requests have none. */
  stateReason: StateReason | null;
  readonly pull: Pull | undefined;
}

export interface PullRequest extends Issue {
  readonly pull: Pull;
}

export interface Pull {
  readonly id: number;
  readonly head: { readonly repository: Repository; readonly ref: string; sha: string };
  /** `sha` is the base branch at the time when the head last moved: GitHub does not follow later pushes to the base. */
  base: { ref: string; sha: string };
  draft: boolean;
  merged: Merged | undefined;
  autoMerge: AutoMerge | undefined;
  readonly reviews: Review[];
  /** Whose review is requested and not submitted yet. */
  readonly requested: { people: Account[]; teams: string[] };
  /** The head and base for which a client has already read `mergeable`. */
  mergeabilityAsked: string | undefined;
}

/** Somebody asked GitHub to merge as soon as everything that is required is satisfied. */
export interface AutoMerge {
  readonly by: Account;
  readonly method: MergeMethod;
}

interface Merged {
  readonly at: Date;
  readonly by: Account;
  readonly method: MergeMethod;
  readonly sha: string;
  /** Where head and base diverged, which the merge itself hides from the history. */
  readonly mergeBase: string;
}

export interface Review {
  readonly id: number;
  readonly author: Account;
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
  readonly body: string;
  readonly commitSha: string;
  readonly submittedAt: Date;
  readonly comments: ReviewComment[];
}

/** A comment on a line of the diff, which begins a conversation; `LEFT` is the file before, `RIGHT` after. */
export interface ReviewComment {
  readonly id: number;
  /** Whether somebody resolved the conversation. */
  isResolved: boolean;
  readonly path: string;
  readonly line: number;
  readonly side: 'LEFT' | 'RIGHT';
  readonly startLine: number | null;
  /** The end of the diff's hunk around it, up to the line. */
  readonly hunk: string;
  body: string;
  /** The first comment of the conversation, and who wrote it; missing in that one itself, which its review's author wrote. */
  readonly replyTo?: { readonly id: number; readonly by: Account };
}

export interface Comment {
  readonly id: number;
  readonly issue: Issue;
  readonly author: Account;
  /** Who wrote the current body. */
  lastWriter: Account;
  /** What it said when it was written. */
  readonly firstBody: string;
  body: string;
  readonly reactions: Reaction[];
  readonly createdAt: Date;
  updatedAt: Date;
  /** Why it is shown collapsed; `null` if it is not. */
  minimizedReason: string | null;
}

export interface Reaction {
  readonly id: number;
  readonly author: Account;
  readonly content: ReactionContent;
  readonly createdAt: Date;
}

export interface CheckSuite {
  readonly id: number;
  readonly app: App;
  readonly repository: Repository;
  readonly headSha: string;
  readonly headBranch: string | null;
  readonly runs: CheckRun[];
  /** There is more to come, although no check run says so yet: jobs that need others first. */
  goesOn: boolean;
  readonly createdAt: Date;
  updatedAt: Date;
}

export interface CheckRun {
  readonly id: number;
  readonly suite: CheckSuite;
  name: string;
  status: CheckStatus;
  conclusion: CheckConclusion | null;
  startedAt: Date;
  completedAt: Date | null;
  externalId: string;
  detailsUrl: string | undefined;
  title: string | null;
  summary: string | null;
  text: string | null;
  readonly annotations: Annotation[];
  actions: readonly CheckAction[];
  /** Of a job of GitHub Actions. */
  steps: readonly JobStep[];
}

export interface JobStep {
  readonly name: string;
  readonly conclusion: 'success' | 'failure' | 'skipped' | 'cancelled';
  readonly seconds: number;
}

export interface CheckAction {
  readonly label: string;
  readonly description: string;
  readonly identifier: string;
}

export interface Annotation {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly startColumn: number | null;
  readonly endColumn: number | null;
  readonly level: 'notice' | 'warning' | 'failure';
  readonly title: string | null;
  readonly message: string;
  readonly rawDetails: string | null;
}

export interface CommitStatus {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: StatusState;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly creator: Account;
  /** The app that reported it; `null` for a person. */
  readonly appId: number | null;
  readonly createdAt: Date;
}

export function fullName(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`;
}

export function isPullRequest(issue: Issue): issue is PullRequest {
  return issue.pull !== undefined;
}
