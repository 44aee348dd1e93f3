import type { Json } from '../core/canonical.ts';
import type { Artifact } from '../domain/artifact/artifact.ts';
import type { AppliedCommand } from '../domain/command/order.ts';
import type { Effect, EffectRow, EffectStatus } from '../domain/effect/effect.ts';
import type { Approval } from '../domain/policy/approval.ts';
import type { Push } from '../domain/policy/authorship.ts';
import type { GateProtection } from '../domain/policy/gate-check.ts';
import type { Actor } from '../domain/run/actor.ts';
import type { PastTransition } from '../domain/run/history.ts';
import type { Invocation, Run, RunState, RunStatus, Session } from '../domain/run/run.ts';
import type { SkillChoice } from '../domain/skill/decision.ts';
import type { SkillArtifact } from '../domain/skill/skill.ts';
import type { AuditLog } from './audit-log.ts';
import type { ModelCalls } from './model-calls.ts';
import type { FiredOnce, Pruning, PullRequestPlace, PullRequestState } from './retention.ts';
import type { SkillCalls, SkillOutline, SkillTraces } from './skill-traces.ts';

/**
 * The database as the engine sees it. Every write happens inside `transaction`; what belongs together commits
 * together, and what there is to do is written in the same transaction as the state that asks for it.
 */
export interface Storage {
  /**
   * Runs `work` in one transaction; a throw rolls all of it back. Only database work may be awaited inside.
   * Transactions of one process run one after the other; one inside another would wait for itself and is refused.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs `work` for a job that is held under a lease. Every transaction that it begins, however deep in its calls, is
   * refused with `queue.lease_lost` when the job is held so no longer: whoever was overtaken can write nothing.
   */
  fenced<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
  /**
   * The same tables for reading, outside any transaction: it sees what is committed, waits for nobody, and refuses to
   * write. Inside a transaction, read through its `tx`.
   */
  readonly read: ReadTx;
  /** Resolves when the database answers; rejects with a sentence otherwise. */
  check(): Promise<void>;
  /** Writes a consistent copy of the database to a file that must not exist yet. */
  backup(path: string): Promise<void>;
  /**
   * Gives up to so many of the file's free pages back to the file system. Some are kept for what comes next. Returns whether there
   * are more to give.
   */
  giveBack(pages: number): Promise<boolean>;
  close(): Promise<void>;
}

/** What a worker has of the job it does; the token is never the same twice. */
export interface Lease {
  jobId: number;
  token: string;
}

export interface Tx {
  readonly deliveries: Deliveries;
  readonly runs: Runs;
  readonly approvals: Approvals;
  readonly effects: Effects;
  readonly artifacts: Artifacts;
  readonly pullRequests: PullRequests;
  readonly gateProtections: GateProtections;
  readonly pushes: Pushes;
  readonly jobs: Jobs;
  readonly cursors: Cursors;
  readonly missedDeliveries: MissedDeliveries;
  readonly modelCalls: ModelCalls;
  readonly skills: Skills;
  readonly skillCalls: SkillCalls;
  readonly skillTraces: SkillTraces;
  readonly audit: AuditLog;
  readonly appliedCommands: AppliedCommands;
  readonly pruning: Pruning;
}

/** Reading needs no transaction; a type of its own would copy every table's interface for little. */
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
  /** The key of the job that it is to have. */
  queueKey: string;
}

export interface Delivery extends Omit<NewDelivery, 'queueKey'> {
  id: number;
  status: DeliveryStatus;
  attempts: number;
  error: string | null;
  finishedAt: Date | null;
}

export type DeliverySummary = Omit<Delivery, 'body'>;

export interface Deliveries {
  /**
   * Records deliveries in one statement. A GUID that is already there is not inserted again: it is returned as a
   * duplicate, or, when its earlier processing failed, set back to `received` to be run again.
   */
  record(deliveries: readonly NewDelivery[]): Promise<{ id: number; guid: string; fresh: boolean }[]>;
  /** Those that were recorded and have had no job since, oldest first: they are handed out once. */
  claimUnqueued(most: number): Promise<{ id: number; queueKey: string; receivedAt: Date }[]>;
  /** When the oldest of them came. */
  oldestToQueue(): Promise<Date | undefined>;
  /** Those of the GUIDs that are recorded. */
  known(guids: readonly string[]): Promise<Set<string>>;
  get(id: number): Promise<Delivery | undefined>;
  byGuid(guid: string): Promise<Delivery | undefined>;
  setStatus(id: number, status: DeliveryStatus, at: Date, error?: string): Promise<void>;
  /** Newest first. */
  list(filter: { status?: DeliveryStatus; limit: number }): Promise<DeliverySummary[]>;
  countByStatus(): Promise<Record<DeliveryStatus, number>>;
}

export interface RunFilter {
  installationId?: number;
  repository?: string;
  repositoryId?: number;
  pullRequest?: number;
  headSha?: string;
  chain?: string;
  status?: RunStatus;
  /** Only runs that are not over. */
  active?: boolean;
  limit?: number;
}

export interface Runs {
  insert(state: RunState): Promise<void>;
  /** Run and invocations (with their outcomes), invocations by step index. */
  load(id: string): Promise<RunState | undefined>;
  /** Writes the changed run and all its invocations, and a line of history for each whose status changes. */
  save(state: RunState, by: Actor): Promise<void>;
  /** Newest first. */
  list(filter: RunFilter): Promise<Run[]>;
  /**
   * What speaks for a pull request or for a head: the runs that are not over, and the newest of each chain of each pull request,
   * however many runs came since. Newest first.
   */
  current(
    of: { repositoryId: number; pullRequest: number } | { repositoryId: number; headSha: string },
  ): Promise<Run[]>;
  insertSession(session: Session): Promise<void>;
  getSession(id: string): Promise<{ session: Session; invocation: Invocation; runId: string } | undefined>;
  saveSession(session: Session, by: Actor): Promise<void>;
  /** Keeps what a session chose. Once: one that has chosen is no such row. */
  chooseSkill(sessionId: string, choice: SkillChoice): Promise<void>;
  sessionsOf(runId: string): Promise<Session[]>;
  /** Every transition of the run, its invocations and its sessions, oldest first; nothing for a run that does not exist. */
  historyOf(runId: string): Promise<PastTransition[]>;
  /** Whether a run that was removed since was begun by this. */
  wasFired(fired: FiredOnce): Promise<boolean>;
  countByStatus(): Promise<Record<RunStatus, number>>;
  /** Renames follow the repository's id. */
  renameRepository(repositoryId: number, repository: string): Promise<void>;
}

export interface Approvals {
  insert(approval: Approval): Promise<void>;
  /** Writes everything but the answers: one that is given during a look must not be undone by what the look found. */
  save(approval: Approval): Promise<void>;
  /** Writes the answers alone. */
  saveAnswers(approval: Pick<Approval, 'id' | 'answers'>): Promise<void>;
  /** The newest approval of the invocation. */
  ofInvocation(invocationId: string): Promise<Approval | undefined>;
  ofRun(runId: string): Promise<Approval[]>;
  /**
   * Every question about this head and base that was countersigned or rejected, with the chain that asked; newest first. Of one
   * pull request, or of all that share the head when it is left out. People gave each answer, so there are never many.
   */
  answered(about: {
    repositoryId: number;
    pullRequest?: number;
    headSha: string;
    baseRef: string;
  }): Promise<{ approval: Approval; chain: string }[]>;
}

export interface Effects {
  /**
   * Wishes for an effect. A new key makes a pending row; a known key gets the new wish and becomes pending again
   * unless what was last carried out is the same. Returns whether there is something to carry out that nobody was told of:
   * wishing in the same run for what waits already changes nothing, or each look at it would cut short the pauses between tries;
   * nor does wishing unchanged for what failed and rests (`rests_until`), unless `anew`.
   */
  request(desired: {
    id: string;
    key: string;
    effect: Effect;
    runId: string | null;
    at: Date;
    anew?: boolean;
  }): Promise<boolean>;
  get(key: string): Promise<EffectRow | undefined>;
  /**
   * Writes everything but the wish itself, which may have changed in the meantime: then the row stays pending, even
   * when `done` is given. Returns whether there is still something to carry out.
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
    >,
  ): Promise<boolean>;
  ofRun(runId: string): Promise<EffectRow[]>;
  /** The merge calls of the pull request's runs that were sent, and that GitHub has not refused; oldest first. */
  mergesSent(repositoryId: number, pullRequest: number): Promise<EffectRow[]>;
  /** The keys of the installation's gate checks that are to be closed while GitHub may still show them as open. */
  gatesToClose(installationId: number): Promise<string[]>;
  list(filter: { status?: EffectStatus; limit: number }): Promise<EffectRow[]>;
  countByStatus(): Promise<Record<EffectStatus, number>>;
}

export interface Artifacts {
  insert(artifact: Artifact): Promise<void>;
  ofRun(runId: string): Promise<Artifact[]>;
  get(id: string): Promise<Artifact | undefined>;
  /**
   * Artifacts in the order of their ids, beginning after the given one: of all runs, or of those that were over before a
   * moment. One pass over the table for however many pages.
   */
  page(page: { after: string; limit: number; runOverBefore?: Date }): Promise<Artifact[]>;
  /** Those that are gone already are no error. */
  remove(ids: readonly string[]): Promise<void>;
}

/** What this app remembers of a pull request beyond its runs. */
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
}

export interface PullRequests {
  /** Those that are not known to be closed and whose head, as last seen, is this commit. */
  openWithHead(repositoryId: number, headSha: string): Promise<{ number: number; pausedBy: string | null }[]>;
  get(repositoryId: number, number: number): Promise<PullRequestRow | undefined>;
  upsert(row: PullRequestRow): Promise<void>;
  /** Keeps what GitHub says of it, and since when that is so; of an open one, when it was last seen. */
  sawState(place: PullRequestPlace, state: PullRequestState, at: Date): Promise<void>;
  /** Those of a repository or an installation that is out of reach, as far as they were not over before. */
  areGone(of: { repositoryId: number } | { installationId: number }, at: Date): Promise<void>;
}

/** Whether branches require the gate check, as last read from GitHub. Told to people; nothing is decided by it. */
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

/** The newest command of each scope that was applied to a pull request: `run/command-order.ts` gives scopes their meaning. */
export interface AppliedCommands {
  of(repositoryId: number, pullRequest: number): Promise<AppliedCommand[]>;
  /** Takes the place of the one before in its scope. */
  put(repositoryId: number, pullRequest: number, command: AppliedCommand): Promise<void>;
}

/** Who pushed which commits, as GitHub's webhooks told. */
export interface Pushes {
  /** Once: what is told again changes nothing. */
  record(push: Push & { repositoryId: number }, at: Date): Promise<void>;
  /** Those that made one of the commits the tip of a branch in one of the repositories. */
  of(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
}

/** Rows of the embedded queue; `queue/` gives them their meaning. */
export interface JobRow {
  id: number;
  kind: string;
  key: string;
  payload: string;
  runAt: Date;
  attempts: number;
  unavailableSince: Date | null;
  leaseToken: string | null;
  leaseUntil: Date | null;
}

/** What is kept of a job's tries. */
export type Counted = Pick<JobRow, 'attempts' | 'unavailableSince'>;

/** A backlog may be of any size, and what is asked at each scrape must not be. */
export const MOST_COUNTED = 10_000;

export interface Jobs {
  insert(...jobs: { kind: string; key: string; payload: string; runAt: Date }[]): Promise<void>;
  /** Moves a waiting job with the same kind and key to the earlier of both times; false when there is none. */
  bringForward(kind: string, key: string, runAt: Date): Promise<boolean>;
  /**
   * Takes up to `limit` due jobs under a lease: first due first, and never two with one key at a time, whoever
   * holds the other. Leases that have ended are lost from then on, and their jobs one attempt older.
   */
  claim(now: Date, leaseUntil: Date, leaseToken: string, limit: number): Promise<JobRow[]>;
  /** Whether somebody works on a job of this key at the moment. */
  isUnderWay(key: string): Promise<boolean>;
  /** Whether the job is held under this token. */
  isHeld(id: number, leaseToken: string): Promise<boolean>;
  /** Extends the lease; false when it was lost. */
  extend(id: number, leaseToken: string, leaseUntil: Date): Promise<boolean>;
  /** Deletes the job; false when the lease was lost. */
  complete(id: number, leaseToken: string): Promise<boolean>;
  /**
   * Gives the job back to be run at `runAt`, with what is counted of it; false when the lease was lost. When the same job (kind, key
   * and payload) came meanwhile and is to run by then, that one takes over what is counted, and this one is over.
   */
  retry(id: number, leaseToken: string, runAt: Date, counted: Counted): Promise<boolean>;
  /** The tokens under which jobs are held. */
  leaseTokens(): Promise<string[]>;
  /** Ends every lease under this token, for a holder that is known to be dead; returns its jobs, which are one attempt older. */
  release(leaseToken: string): Promise<JobRow[]>;
  /** When the next job that nobody holds falls due, after the given moment. */
  nextDue(after: Date): Promise<Date | undefined>;
  /** How many are due by then, or held; and deliveries that are still to have one. Of each, no more than `MOST_COUNTED` are counted. */
  countDue(now: Date): Promise<number>;
}

/** How far something outside was read; a position is a small value that its owner gives a shape. */
export interface Cursors {
  get(name: string): Promise<Json | undefined>;
  set(name: string, position: Json, at: Date): Promise<void>;
}

/** A webhook that GitHub sent and nobody took. */
export interface MissedDelivery {
  guid: string;
  /** GitHub's number of its last attempt. */
  attemptId: number;
  deliveredAt: Date;
  /** How often GitHub was asked to send it again. */
  asked: number;
  askAt: Date;
}

export interface MissedDeliveries {
  get(guid: string): Promise<MissedDelivery | undefined>;
  put(missed: MissedDelivery): Promise<void>;
  remove(guid: string): Promise<void>;
  /** Those to be asked for by then, oldest first. */
  due(now: Date, limit: number): Promise<MissedDelivery[]>;
}

/** Who brought a skill: it ships with Countersign, comes from an index that is shared, or from an organisation or repository. */
export const SKILL_SOURCES = ['system', 'community', 'user'] as const;
export type SkillSource = (typeof SKILL_SOURCES)[number];

/** A skill package as the tables hold it; `skill/package/` gives it its meaning. */
export interface StoredSkill {
  /** Of its content. */
  id: string;
  name: string;
  description: string;
  version: string | null;
  tags: string[];
  source: SkillSource;
  author: string | null;
  intentPatterns: string[];
  triggerPhrases: string[];
  /** The index that it is in force from, and the hash of what was taken from there. */
  marketplaceId: string | null;
  syncEtag: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** By ordinal. */
  artifacts: StoredSkillArtifact[];
}

export interface StoredSkillArtifact extends SkillArtifact {
  id: string;
  /** What an optimizer learned about a module. */
  state: Json | null;
}

export interface Skills {
  /** Stores a skill with its artifacts. One with that id has the same content, and is left as it is. */
  keep(skill: StoredSkill): Promise<void>;
  get(id: string): Promise<StoredSkill | undefined>;
  /** What is to be known of skills before one is chosen: the others' artifacts are not read. Those that are there, by name. */
  outlines(ids: readonly string[]): Promise<SkillOutline[]>;
  /** Writes what optimizing an artifact found out, over what was found before; false when there is no such artifact. */
  saveState(artifactId: string, state: Json, at: Date): Promise<boolean>;
  /** The packages of indexes that are in force, by name: one of each at most. */
  adopted(): Promise<AdoptedSkill[]>;
  /** Stores a package of an index, and puts it in the place of the one that its name stood for. */
  adopt(skill: StoredSkill & SkillOfIndex): Promise<void>;
  /** Takes a package of an index out of force; runs that began with it keep it. */
  withdraw(id: string): Promise<void>;
}

/** Which index a package is from, and the hash by which that named it. */
export interface SkillOfIndex {
  marketplaceId: string;
  syncEtag: string;
}

export interface AdoptedSkill extends SkillOfIndex {
  id: string;
  name: string;
  version: string | null;
}
