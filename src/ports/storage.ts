import type { Json } from '../core/canonical.ts';
import type { CountersignError } from '../core/errors.ts';
import type { Artifact } from '../domain/artifact/artifact.ts';
import type { StoredChain } from '../domain/chain/stored.ts';
import type { AppliedCommand } from '../domain/command/order.ts';
import type { Effect, EffectRow, EffectStatus } from '../domain/effect/effect.ts';
import type { ReviewVerdict } from '../domain/outcome/review-verdict.ts';
import type { Approval } from '../domain/policy/approval.ts';
import type { Push } from '../domain/policy/authorship.ts';
import type { GateProtection } from '../domain/policy/gate-check.ts';
import type { Notices } from '../domain/policy/notices.ts';
import type { QuestionWatch } from '../domain/policy/question-watch.ts';
import type { Actor } from '../domain/run/actor.ts';
import type { PastTransition } from '../domain/run/history.ts';
import type { Invocation, Run, RunState, RunStatus, Session } from '../domain/run/run.ts';
import type { SkillChoice } from '../domain/skill/decision.ts';
import type { SkillArtifact } from '../domain/skill/skill.ts';
import type { AcceptedFindings } from './accepted-findings.ts';
import type { ApiTokens } from './api-tokens.ts';
import type { AuditLog } from './audit-log.ts';
import type { Composites } from './composites.ts';
import type { StoredDryRuns } from './dry-runs.ts';
import type { Firings, Schedules } from './firings.ts';
import type { Insight } from './insight.ts';
import type { ModelCalls } from './model-calls.ts';
import type { Operations } from './operations.ts';
import type { Overview } from './overview.ts';
import type { RepositoryStates } from './repository-states.ts';
import type { FiredOnce, Pruning, PullRequestPlace, PullRequestState } from './retention.ts';
import type { SessionLogs } from './session-logs.ts';
import type { SkillCalls, SkillOutline, SkillTraces } from './skill-traces.ts';
import type { StudioCommands, StudioSessions } from './studio-sessions.ts';
import type { ThreadReplies } from './thread-replies.ts';
import type { Visible } from './visible.ts';

/**
 * The database as the engine sees it. Every write happens inside `transaction`. State that belongs together
 * is committed together, and the jobs for it are inserted in the same transaction.
 */
export interface Storage {
  /**
   * Runs `work` in one transaction; a thrown error rolls it back. Only database calls may be awaited inside.
   * Transactions of one process run one after the other. A nested one would wait for itself and is refused.
   * @param options `waitsFor`: it happens just before the next transaction and shares its commit, if that comes
   * soon: one of `others`, if any are at work, or one of the `caller`. For what a crash may lose, because it is
   * found out again.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: { waitsFor?: 'others' | 'caller' }): Promise<T>;
  /**
   * Runs `work` for a job that is held under a lease. Every transaction inside, at any depth of calls, fails
   * with `queue.lease_lost` once the lease is lost, so that a worker that was replaced can write nothing.
   */
  fenced<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
  /**
   * The same tables for reading, outside any transaction: it sees committed data, never waits, and refuses to
   * write. Inside a transaction, read through its `tx`.
   */
  readonly read: ReadTx;
  /**
   * Differs from the last one if anything that was written has been committed meanwhile, by this process or another, and costs
   * next to nothing.
   */
  version(): Promise<string>;
  /** Resolves if the database answers; otherwise rejects with a sentence. */
  check(): Promise<void>;
  /**
   * Writes a consistent copy of the database to a file that must not exist yet.
   * @param onProgress called again and again, with how much of the file is copied
   */
  backup(path: string, onProgress?: (copied: number, of: number) => void): Promise<void>;
  /**
   * Returns up to this many of the file's free pages to the file system, except a reserve for the next
   * writes. Returns whether there are more.
   */
  giveBack(pages: number): Promise<boolean>;
  close(): Promise<void>;
}

/** A worker's lease on its job. Every lease has a unique token. */
export interface Lease {
  jobId: number;
  token: string;
  /** Called in the transaction that ends the job. */
  onEnd?(tx: Tx): void;
  /** How many other jobs of this process are under way, whose transactions others may share. */
  others?(): number;
}

export interface Tx {
  readonly deliveries: Deliveries;
  readonly runs: Runs;
  readonly sessionLogs: SessionLogs;
  readonly approvals: Approvals;
  readonly effects: Effects;
  readonly threadReplies: ThreadReplies;
  readonly artifacts: Artifacts;
  readonly pullRequests: PullRequests;
  readonly gateProtections: GateProtections;
  readonly pushes: Pushes;
  readonly jobs: Jobs;
  readonly chains: Chains;
  readonly schedules: Schedules;
  readonly firings: Firings;
  readonly composites: Composites;
  readonly cursors: Cursors;
  readonly missedDeliveries: MissedDeliveries;
  readonly modelCalls: ModelCalls;
  readonly skills: Skills;
  readonly skillCalls: SkillCalls;
  readonly skillTraces: SkillTraces;
  readonly apiTokens: ApiTokens;
  readonly audit: AuditLog;
  readonly appliedCommands: AppliedCommands;
  readonly acceptedFindings: AcceptedFindings;
  readonly studioSessions: StudioSessions;
  readonly studioCommands: StudioCommands;
  readonly dryRuns: StoredDryRuns;
  readonly operations: Operations;
  readonly pruning: Pruning;
  readonly overview: Overview;
  readonly insight: Insight;
  readonly repositoryStates: RepositoryStates;
  /**
   * Calls `work` at the end of the transaction, before it commits: for what many callers contribute to, and
   * one statement can write. Outside of a transaction there is no such end, and it throws.
   */
  beforeCommit(work: () => Promise<void>): void;
  /** Calls `work` once the transaction has committed or was rolled back. */
  afterwards(work: (committed: boolean) => void): void;
  /**
   * Deletes the job that this transaction belongs to when it commits, so that the queue needs no further one.
   * The handler must not write anything after that.
   */
  endJob(): void;
}

/**
 * Reading needs no transaction. A separate type was rejected: it would copy every table's interface for
 * little benefit.
 */
export type ReadTx = Tx;

export const DELIVERY_STATUSES = ['received', 'processing', 'done', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface NewDelivery {
  guid: string;
  event: string;
  action: string | null;
  installationId: number | null;
  /** The raw body as it was signed. */
  body: Uint8Array;
  receivedAt: Date;
  /** The key of its future job; `null` if its job is created with it. */
  queueKey: string | null;
}

export interface Delivery extends Omit<NewDelivery, 'queueKey'> {
  id: number;
  status: DeliveryStatus;
  attempts: number;
  error: string | null;
  finishedAt: Date | null;
}

export type DeliverySummary = Omit<Delivery, 'body'>;

/**
 * Deliveries that were accepted and answered, and that the database does not have yet. The code that moves them
 * there keeps the number of the last commit, in the same transaction.
 */
export interface Inbox {
  /** Differs for each inbox, so that a number of one never counts for another. */
  readonly id: string;
  /** What was recorded after this number, oldest first, at most so many commits. */
  after(last: number, most: number): Commit[];
  close(): void;
}

/** What one commit of an inbox recorded. */
export interface Commit {
  id: number;
  deliveries: NewDelivery[];
  /** It cannot be read any more. The GUIDs are those that can. */
  damaged?: { guids: string[]; err: unknown };
}

export interface Deliveries {
  /**
   * Records deliveries in one statement. A GUID that exists is not inserted again: it is returned as a
   * duplicate, or set back to `received` if its processing had failed.
   */
  record(deliveries: readonly NewDelivery[]): Promise<{ id: number; guid: string; fresh: boolean }[]>;
  /**
   * Recorded deliveries that have no job yet, oldest first. Each is returned only once.
   * @param worker only those of the installations that this process has the leases of
   */
  claimUnqueued(
    most: number,
    worker?: string,
  ): Promise<{ id: number; queueKey: string; installationId: number | null; receivedAt: Date }[]>;
  /** The arrival time of the oldest delivery without a job. */
  oldestToQueue(): Promise<Date | undefined>;
  /**
   * Packs bodies of deliveries that arrived before a time together, after the given pack: what arrived one by
   * one is mostly the same text. Returns the last pack that it looked at, whether there may be more, and the damaged packs, which it
   * passes over.
   */
  packTogether(
    after: number,
    before: Date,
  ): Promise<{ last: number; more: boolean; damaged: { id: number; err: unknown }[] }>;
  /**
   * Stores the next deliveries that ended before a time in less space. They read as before. Returns whether there may be
   * more.
   */
  archive(before: Date, now: Date): Promise<boolean>;
  /** Those of the GUIDs that are recorded. */
  known(guids: readonly string[]): Promise<Set<string>>;
  get(id: number): Promise<Delivery | undefined>;
  byGuid(guid: string): Promise<Delivery | undefined>;
  /**
   * Every attempt is counted: with `done`, or with `processing` if it did not end the delivery, which may then
   * fail without another one.
   */
  setStatus(id: number, status: DeliveryStatus, at: Date, error?: string): Promise<void>;
  /** Newest first. */
  list(filter: { status?: DeliveryStatus; limit: number }, onDamaged?: OnDamaged): Promise<DeliverySummary[]>;
  countByStatus(): Promise<Record<DeliveryStatus, number>>;
}

export interface RunFilter {
  installationId?: number;
  repository?: string;
  repositoryId?: number;
  /** One of these. */
  repositoryIds?: readonly number[];
  pullRequest?: number;
  headSha?: string;
  chain?: string;
  /** Only those that began with this delivery. */
  deliveryId?: number;
  status?: RunStatus;
  /** One of these. */
  statuses?: readonly RunStatus[];
  /** In the chain, the repository, the base branch or the head, or the number; only among the newest `MAX_SEARCHED`. */
  text?: string;
  /** Only unfinished runs. */
  active?: boolean;
  /** Only those that began before this one. */
  before?: { createdAt: Date; id: string };
  limit?: number;
}

/** A text has no index, so one list searches few runs for it. */
export const MAX_SEARCHED = 1_000;

/** In the order of their ends. */
export interface RunPosition {
  finishedAt: string;
  id: string;
}

/** What a new run has been through in the transaction that inserts it. */
interface Begun {
  /** As it was before. */
  from: RunState;
  sessions: readonly Session[];
  by: Actor;
}

export interface Runs {
  insert(state: RunState, begun?: Begun): Promise<void>;
  /** The run and its invocations with their outcomes, by step index. */
  load(id: string): Promise<RunState | undefined>;
  /** Those of the runs that exist, by id, in a number of statements that does not grow with them. */
  loadAll(ids: readonly string[]): Promise<Map<string, RunState>>;
  /** Only the run. */
  get(id: string): Promise<Run | undefined>;
  /**
   * Writes the run's status, pause and times, its invocations that changed, and a transition for each status
   * that changes.
   */
  save(state: RunState, by: Actor): Promise<void>;
  /** Newest first. */
  list(filter: RunFilter): Promise<Run[]>;
  /** The last run that a list with this text searches, where the next one goes on; `undefined` if it searches all. */
  searchedTo(filter: Omit<RunFilter, 'limit'>): Promise<BeginningOfRun | undefined>;
  /**
   * The runs that represent a pull request or a head: the unfinished ones, and the newest of each chain of
   * each pull request, however many runs came since. Newest first.
   */
  current(
    of: { repositoryId: number; pullRequest: number } | { repositoryId: number; headSha: string },
  ): Promise<Run[]>;
  insertSession(session: Session): Promise<void>;
  /** The session with its invocation, and the run of both. */
  getSession(id: string): Promise<{ session: Session; invocation: Invocation; state: RunState } | undefined>;
  saveSession(session: Session, by: Actor): Promise<void>;
  /** Stores the choice of a session. Fails for a session that has already chosen. */
  chooseSkill(sessionId: string, choice: SkillChoice): Promise<void>;
  /** Oldest first. @param part only so many of the newest, and only of one step */
  sessionsOf(runId: string, part?: { newest: number; invocationId?: string }): Promise<Session[]>;
  /**
   * Every transition of the run, its invocations and its sessions, oldest first; empty for an unknown run.
   * @param newest only so many of the newest
   */
  historyOf(runId: string, newest?: number): Promise<PastTransition[]>;
  /**
   * Differs if anything about the run changed that people read: its status, its steps, what it wrote and produced.
   * One statement. `undefined` for an unknown run.
   */
  stamp(runId: string): Promise<string | undefined>;
  /**
   * Stores the large texts of runs that ended before the time in less space, oldest first. They read as before.
   * Returns how many runs it packed.
   */
  packEnded(before: Date, limit: number): Promise<number>;
  /**
   * Ended runs whose rows may go into an archive, oldest first, after a position of an earlier page: nothing is left
   * to do for them, and their pull request is closed.
   */
  archivable(page: {
    after: RunPosition | undefined;
    before: Date;
    limit: number;
  }): Promise<{ ids: string[]; next: RunPosition | undefined }>;
  /**
   * Moves everything that belongs to these runs into archives, if they still may be archived. They read as before,
   * and are as they were before once a transaction touches them.
   */
  archive(ids: readonly string[], before: Date): Promise<void>;
  /** Whether a run with this identity existed and was deleted. */
  wasFired(fired: FiredOnce): Promise<boolean>;
  countByStatus(): Promise<Record<RunStatus, number>>;
  /** The repository's id stays the same. Remembers the names that it had. */
  renameRepository(repositoryId: number, repository: string): Promise<void>;
}

export interface Approvals {
  insert(approval: Approval): Promise<void>;
  /** Writes everything except the answers, so that an answer given during a poll is not overwritten. */
  save(approval: Approval): Promise<void>;
  /** Writes only the answers. */
  saveAnswers(approval: Pick<Approval, 'id' | 'answers'>): Promise<void>;
  /** Writes only whom it notified. */
  saveNotices(approvalId: string, notices: Notices): Promise<void>;
  /** The newest approval of the invocation. */
  ofInvocation(invocationId: string): Promise<Approval | undefined>;
  ofRun(runId: string): Promise<Approval[]>;
  /** The newest approval of each of the runs, by the run's id; not of archived runs. */
  newestOf(runIds: readonly string[]): Promise<Map<string, Approval>>;
  /** The open approvals of the installation that the poller watches, with the time of asking. */
  watched(installationId: number): Promise<{ id: string; askedAt: Date }[]>;
  /** Those of the approvals that are still open and watched, with the session that waits for the answer. */
  stillWatched(ids: readonly string[]): Promise<{ id: string; watch: QuestionWatch; sessionId: string }[]>;
  /**
   * Every approval of this head and base that was countersigned or rejected, with its chain; newest first.
   * Without `pullRequest`, of all pull requests with this head. People gave each answer, so there are few.
   */
  answered(about: {
    repositoryId: number;
    pullRequest?: number;
    headSha: string;
    baseRef: string;
  }): Promise<{ approval: Approval; chain: string }[]>;
}

/** The part of a run that decides whose write an effect is, and whether it still can be written. */
export type RunOfEffect = Pick<
  Run,
  'repositoryId' | 'pullRequest' | 'event' | 'facts' | 'reason' | 'finishedAt'
>;

export interface Effects {
  /**
   * Stores a desired effect. A new key inserts a pending row. A known key replaces the desired effect, which
   * becomes pending again unless it equals the last executed one. Returns whether a job is needed. An
   * unchanged request of the same run needs none, because one exists, and another would shorten the pauses
   * between its retries. An unchanged request for a failed effect needs none before `rests_until`, unless
   * `retryNow` is set.
   */
  request(desired: {
    id: string;
    key: string;
    effect: Effect;
    runId: string | null;
    at: Date;
    retryNow?: boolean;
  }): Promise<boolean>;
  get(key: string): Promise<EffectRow | undefined>;
  /** Also with what an attempt needs of the run that requested it. */
  getWithRun(key: string): Promise<{ row: EffectRow; run: RunOfEffect | undefined } | undefined>;
  /** Reads these rows in one statement, so that reading each later in this transaction costs none. */
  preload(keys: readonly string[]): Promise<void>;
  /**
   * Writes everything except the desired effect. If that changed meanwhile, the row stays pending, even with
   * `done`. Returns whether there is still something to execute.
   */
  saveProgress(
    row: Pick<
      EffectRow,
      | 'key'
      | 'appliedHash'
      | 'status'
      | 'githubId'
      | 'begun'
      | 'progress'
      | 'attempts'
      | 'error'
      | 'updatedAt'
      | 'contentAt'
    >,
  ): Promise<boolean>;
  /** Oldest first. @param newest only so many of the newest */
  ofRun(runId: string, newest?: number): Promise<EffectRow[]>;
  /**
   * The merge calls of the pull request's runs that were sent and that GitHub has not refused; oldest first.
   */
  mergesSent(repositoryId: number, pullRequest: number): Promise<EffectRow[]>;
  /**
   * The keys of the installation's gate checks that should be closed and that GitHub may still show as open.
   */
  gatesToClose(installationId: number): Promise<string[]>;
  /**
   * The effects for which GitHub has created content in this period, oldest first, with what the fair share of GitHub's limits needs of
   * their runs.
   */
  withContent(
    installationId: number,
    period: { since: Date; until: Date },
    onDamaged: OnDamaged,
  ): Promise<{ row: EffectRow; run: RunOfEffect | undefined }[]>;
  list(filter: { status?: EffectStatus; limit: number }): Promise<EffectRow[]>;
  countByStatus(): Promise<Record<EffectStatus, number>>;
}

/** Gets the error of each row or archive that a list passes over. Without it, the first such error is thrown. */
export type OnDamaged = (error: CountersignError) => void;

export interface ArtifactFilter {
  runId?: string;
  kind?: string;
  since?: Date;
  /** Only outcomes that have not passed. One without a verdict is none of them. */
  failed?: boolean;
  limit: number;
}

/** For people who look for artifacts: those of all runs that they may see. */
export interface ArtifactSearch {
  visible: Visible;
  repository?: string;
  kind?: string;
  /** Of a review. */
  verdict?: NonNullable<ReviewVerdict['verdict']>;
  /** As of `ArtifactFilter`. */
  failed?: boolean;
  since?: Date;
  until?: Date;
  /** In the artifact's name, or in the repository, chain or number of its run. Upper and lower case are equal. */
  text?: string;
  after?: BeginningOfRun;
}

/** Runs are ordered by when they began, and by id. */
export interface BeginningOfRun {
  createdAt: Date;
  id: string;
}

export interface ArtifactOutline {
  id: string;
  kind: string;
  name: string;
  createdAt: Date;
  /** `undefined` if it is no outcome. */
  passed: boolean | null | undefined;
  verdict: ReviewVerdict['verdict'];
}

export interface FoundArtifacts {
  runs: {
    run: Pick<Run, 'id' | 'repository' | 'pullRequest' | 'chain' | 'createdAt'>;
    /** Newest first, and a bounded number of them. */
    artifacts: ArtifactOutline[];
    hasMore: boolean;
    /** The archive of the run cannot be read. */
    isDamaged: boolean;
  }[];
  /** Where this search ended, unless it has seen all runs: it reads a bounded number of them. */
  next: BeginningOfRun | undefined;
}

export interface Artifacts {
  insert(...artifacts: Artifact[]): Promise<void>;
  /** Grouped by run, those of the newest run first. */
  search(search: ArtifactSearch): Promise<FoundArtifacts>;
  /** Oldest first. @param part only so many of the newest, of one step and of one kind */
  ofRun(runId: string, part?: { newest: number; invocationId: string; kind?: string }): Promise<Artifact[]>;
  get(id: string): Promise<Artifact | undefined>;
  /** Newest first, also those of runs that ended long ago. */
  list(filter: ArtifactFilter, onDamaged?: OnDamaged): Promise<Artifact[]>;
  /**
   * Artifacts by id, after the given one: of all runs, or of those that ended before a time. All pages
   * together read the table once.
   */
  page(page: { after: string; limit: number; runOverBefore?: Date }): Promise<Artifact[]>;
  /** Ids that no longer exist are ignored. */
  remove(ids: readonly string[]): Promise<void>;
}

/** This app's own data about a pull request, beyond its runs. */
export interface PullRequestRow {
  repositoryId: number;
  number: number;
  repository: string;
  installationId: number;
  pausedBy: string | null;
  headSha: string | null;
  previousHeadSha: string | null;
  /** When this app first saw the head. */
  headSeenAt: Date | null;
  updatedAt: Date;
  /** For lists and searches of people. Without it, what was known before stays. Reading leaves it out. */
  about?: { title: string; author: { id: number; login: string } };
}

export interface PullRequests {
  /** Pull requests that are not known to be closed and whose last seen head is this commit. */
  openWithHead(repositoryId: number, headSha: string): Promise<{ number: number; pausedBy: string | null }[]>;
  get(repositoryId: number, number: number): Promise<PullRequestRow | undefined>;
  /**
   * Where a repository was last seen with a pull request.
   * @param repository `owner/name`
   */
  ofRepository(
    repository: string,
  ): Promise<Pick<PullRequestRow, 'repositoryId' | 'installationId'> | undefined>;
  /** @param seen its state on GitHub, as for `sawState` */
  upsert(row: PullRequestRow, seen?: { state: PullRequestState; at: Date }): Promise<void>;
  /** Stores its state on GitHub and since when it has it; for an open one, when it was last seen. */
  sawState(place: PullRequestPlace, state: PullRequestState, at: Date): Promise<void>;
  /**
   * Marks the pull requests of an unreachable repository or installation as gone, unless they were closed or
   * merged.
   */
  areGone(of: { repositoryId: number } | { installationId: number }, at: Date): Promise<void>;
}

/**
 * Whether branches require the gate check, as last read from GitHub. Only for display; no decision uses it.
 */
export interface GateProtections {
  get(
    repositoryId: number,
    branch: string,
  ): Promise<{ protection: GateProtection; readAt: Date } | undefined>;
  put(
    repositoryId: number,
    branch: string,
    read: { protection: GateProtection; readAt: Date },
  ): Promise<void>;
}

/**
 * The newest applied command of each scope of a pull request. `domain/command/order.ts` defines the scopes.
 */
export interface AppliedCommands {
  of(repositoryId: number, pullRequest: number): Promise<AppliedCommand[]>;
  /** Replaces the previous command of its scope. */
  put(repositoryId: number, pullRequest: number, command: AppliedCommand): Promise<void>;
}

/** Who pushed which commits, according to GitHub's webhooks. */
export interface Pushes {
  /** A push that is already recorded changes nothing. */
  record(push: Push & { repositoryId: number }, at: Date): Promise<void>;
  /** The pushes in one of the repositories that made one of the commits the tip of a branch. */
  of(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
}

/** Rows of the embedded queue, which `adapters/embedded-queue` interprets. */
export interface JobRow {
  id: number;
  kind: string;
  key: string;
  payload: string;
  /** `null` for the app's own work. */
  installationId: number | null;
  runAt: Date;
  attempts: number;
  unavailableSince: Date | null;
  leaseToken: string | null;
  leaseUntil: Date | null;
}

/** The counters of a job's attempts. */
export type Counted = Pick<JobRow, 'attempts' | 'unavailableSince'>;

/** A backlog can have any size, but the query of each metrics scrape must be limited. */
export const MAX_COUNTED = 10_000;

export interface Jobs {
  /** @param lease of the jobs that a worker takes at once */
  insert(
    ...jobs: {
      kind: string;
      key: string;
      payload: string;
      runAt: Date;
      worth?: number;
      /** Left out or `null` for the app's own work. */
      installationId?: number | null;
      lease?: { token: string; until: Date };
    }[]
  ): Promise<JobRow[]>;
  /** Moves a waiting job with the same kind and key to the earlier of both times; false if there is none. */
  bringForward(kind: string, key: string, runAt: Date): Promise<boolean>;
  /** Deletes the waiting jobs with this kind and key, which have nothing left to do. */
  removeWaiting(kind: string, key: string): Promise<void>;
  /** All jobs with one of these keys, waiting or held. */
  ofKeys(keys: readonly string[]): Promise<JobRow[]>;
  /** Takes a waiting job, whose time becomes `runAt`, under a lease. */
  take(id: number, runAt: Date, leaseUntil: Date, leaseToken: string): Promise<JobRow | undefined>;
  /**
   * Takes up to `limit` due jobs and as many or `reviews` due reviews under a lease: the most worth first and then the
   * first due, and never
   * two with the same key at a time, whichever process holds the other. Expired leases are lost at this point, and their jobs count one more
   * attempt, unless `endsLeases` is false.
   * @param options.worker only jobs of the installations that this process has the leases of
   */
  claim(
    now: Date,
    leaseUntil: Date,
    leaseToken: string,
    limit: number,
    options?: { reviews?: number; endsLeases?: boolean; worker?: string | undefined },
  ): Promise<JobRow[]>;
  /** Whether a worker is running a job with this key. */
  isUnderWay(key: string): Promise<boolean>;
  /** Whether the job is held under this token. */
  isHeld(id: number, leaseToken: string): Promise<boolean>;
  /** Extends the lease; false if it was lost. */
  extend(id: number, leaseToken: string, leaseUntil: Date): Promise<boolean>;
  /** Deletes the job; false if the lease was lost. */
  complete(id: number, leaseToken: string): Promise<boolean>;
  /**
   * Returns the job to the queue, to run at `runAt`, with its counters; false if the lease was lost. If the
   * same job (kind, key and payload) was enqueued meanwhile and runs by then, that one takes over the
   * counters, and this one is deleted.
   */
  retry(id: number, leaseToken: string, runAt: Date, counted: Counted): Promise<boolean>;
  /** The tokens of all current leases, or of those on jobs of the worker's installations. */
  leaseTokens(worker?: string): Promise<string[]>;
  /**
   * Ends every lease under this token, whose holder is known to be dead, or those on jobs of the worker's installations. Returns the
   * jobs, which count one more attempt.
   */
  release(leaseToken: string, worker?: string): Promise<JobRow[]>;
  /** When the next waiting job is due, after the given time; or the next one of the worker's installations. */
  nextDue(after: Date, worker?: string): Promise<Date | undefined>;
  /**
   * How many jobs are due by then or running, and how many deliveries have no job yet; each counted up to
   * `MOST_COUNTED`.
   */
  countDue(now: Date): Promise<number>;
  /**
   * The jobs that need only a slot to run: due by then, and the first of their key. Deliveries
   * without a job yet count too. Of each worth, and of deliveries, up to `MAX_READY` are counted.
   */
  ready(now: Date): Promise<{ reviews: ReadyJobs; others: ReadyJobs }>;
}

export const MAX_READY = 1_000;

/** @property since when the first of them is due; `undefined` if there are none */
export interface ReadyJobs {
  count: number;
  since: Date | undefined;
}

/** How far something outside was read. A position is a small JSON value whose shape its user defines. */
export interface Chains {
  /** By owner and name. */
  all(): Promise<StoredChain[]>;
  /** When something about the owner's chains changed last. */
  changedAt(owner: string): Promise<Date | undefined>;
  /** Inserts the row, or updates the definition and status of the row with this id. */
  put(chain: StoredChain): Promise<void>;
  /** @param from the former `owner/name` */
  renameRepository(from: string, to: string): Promise<void>;
}

export interface Cursors {
  get(name: string): Promise<Json | undefined>;
  set(name: string, position: Json, at: Date): Promise<void>;
}

/** A webhook that GitHub sent and could not deliver. */
export interface MissedDelivery {
  guid: string;
  /** GitHub's id of the last attempt. */
  attemptId: number;
  deliveredAt: Date;
  /** How often a redelivery was requested. */
  asked: number;
  askAt: Date;
}

export interface MissedDeliveries {
  get(guid: string): Promise<MissedDelivery | undefined>;
  put(missed: MissedDelivery): Promise<void>;
  remove(guid: string): Promise<void>;
  /** Those whose redelivery is due by then, oldest first. */
  due(now: Date, limit: number): Promise<MissedDelivery[]>;
}

/**
 * The origin of a skill: it ships with Countersign, or comes from a shared index, or from an organisation or
 * repository.
 */
const SKILL_SOURCES = ['system', 'community', 'user'] as const;
export type SkillSource = (typeof SKILL_SOURCES)[number];

/** A skill package as stored; `domain/skill/package.ts` explains the fields. */
export interface StoredSkill {
  /** Derived from its content. */
  id: string;
  name: string;
  description: string;
  version: string | null;
  tags: string[];
  source: SkillSource;
  author: string | null;
  intentPatterns: string[];
  triggerPhrases: string[];
  /** The index that it was installed from, and the hash of the downloaded content. */
  marketplaceId: string | null;
  syncEtag: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** By ordinal. */
  artifacts: StoredSkillArtifact[];
}

export interface StoredSkillArtifact extends SkillArtifact {
  id: string;
  /** An optimizer's result for a module. */
  state: Json | null;
}

export interface Skills {
  /** Stores a skill with its artifacts. A skill with the same id has the same content and is not changed. */
  keep(skill: StoredSkill): Promise<void>;
  get(id: string): Promise<StoredSkill | undefined>;
  /**
   * The data for choosing a skill: of its artifacts, only the SKILL.md has content. Existing ids only, by
   * name.
   */
  outlines(ids: readonly string[]): Promise<SkillOutline[]>;
  /** Replaces the optimizer's result of an artifact; false if there is no such artifact. */
  saveState(artifactId: string, state: Json, at: Date): Promise<boolean>;
  /** The packages of indexes that are in force, by name; at most one per name. */
  adopted(): Promise<AdoptedSkill[]>;
  /** Stores a package of an index and replaces the one that was in force under its name. */
  adopt(skill: StoredSkill & SkillOfIndex): Promise<void>;
  /** Takes a package of an index out of force. Runs that began with it keep it. */
  withdraw(id: string): Promise<void>;
}

/** The index of a package, and the hash by which the index identified it. */
interface SkillOfIndex {
  marketplaceId: string;
  syncEtag: string;
}

export interface AdoptedSkill extends SkillOfIndex {
  id: string;
  name: string;
  version: string | null;
}
