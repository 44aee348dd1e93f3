import type { Json } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Expected } from '../../domain/artifact/contract.ts';
import type { Chain, Step } from '../../domain/chain/chain.ts';
import type { Effect, EffectOf } from '../../domain/effect/effect.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { Slot } from '../../domain/expression/state-slot.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import type { AnsweringPerson, Approval } from '../../domain/policy/approval.ts';
import type { Push } from '../../domain/policy/authorship.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { OwnMerge } from '../../domain/run/plan.ts';
import type { Invocation, RunState, Session, WaitingFor } from '../../domain/run/run.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';
import type { Base, Configuration, HowFresh } from '../configuration/configuration.ts';
import type { QueueHandle } from '../effects/enqueue.ts';
import type { Passed } from '../effects/gate-check.ts';
import type { MergeOnce } from '../effects/merge.ts';

/** A large text a session leaves behind, such as an analyzer's whole output. */
export interface Blob {
  kind: 'log' | 'diff' | 'analyzer_output';
  name: string;
  data: string | Uint8Array;
}

/** What one look of a session at its step came to. */
export type StepResult =
  | { kind: 'done'; outcome: Outcome; blobs?: Blob[]; desiredEffects?: DesiredEffect[]; approval?: Approval }
  | {
      kind: 'waits';
      for: WaitingFor;
      until: Date;
      reason: Reason;
      approval?: Approval;
      /** The question that `approval` takes the place of. */
      replaced?: Approval;
    }
  | { kind: 'failed'; reason: Reason; retryable: boolean; blobs?: Blob[]; approval?: Approval }
  /** The run is about something that is no more: another head, a closed pull request. */
  | { kind: 'superseded'; reason: Reason; approval?: Approval };

/** The comment that puts a question to the maintainers, as it was written. */
export interface ApprovalComment {
  githubId: number;
  bodyHash: string;
  /** The account that GitHub named as its author then; `undefined` when it named none. */
  authorId: number | undefined;
}

/** An effect a step asks for; the key makes asking twice harmless. */
export interface DesiredEffect {
  key: string;
  effect: Effect;
}

export interface ConfigurationNow {
  configuration: Configuration | undefined;
  chain: Chain | undefined;
}

/** Everything a step may know and use. It holds no way to write to GitHub but wishes and, with a proof, the merge. */
export interface StepContext {
  state: RunState;
  step: Step;
  invocation: Invocation;
  session: Session;
  /** The step's `with:` values with their expressions filled in. */
  inputs: Record<string, Json>;
  /** One of the `with:` texts, as written but for its filled-in values, which pass the encoder. */
  text(input: string, encode: (value: string) => string): string | undefined;
  repo: Repo;
  reader: GitHubReader;
  /** The same for what somebody waits for at this moment: it is the last to stop when GitHub's limits run low. */
  urgentReader: GitHubReader;
  appId: number;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** `time`: nothing is known to have happened, and the look should be a cheap one. */
  because: 'time' | 'event';
  /** What gates of the step came to in this look, as far as it is news; recorded with whatever the look comes to. */
  readonly judged: Outcome[];
  /** Which review of this pull request this is, from 1. */
  round(): Promise<number>;
  /** The newest review that the same step of an earlier run came to for this pull request. */
  earlierReview(): Promise<ReviewVerdict | undefined>;
  newId(prefix: 'apr'): string;
  /** The approval that belongs to this invocation, if it was asked for. */
  approval: Approval | undefined;
  /** What the outbox knows of the approval's comment; `beingWritten`: GitHub may have newer words of ours already. */
  approvalComment(
    approvalId: string,
  ): Promise<(ApprovalComment & { beingWritten: boolean }) | { refused: string } | undefined>;
  /** How often this run has asked the maintainers already. */
  timesAsked: number;
  /**
   * The merge call that this run has begun, whichever of its steps did; `undefined` when none did. A crash may have come
   * between the call and its answer.
   */
  mergeBegun(): Promise<EffectOf<'merge'> | undefined>;
  /** The merge of this head that this app made, whichever run did; `underWay` while nobody knows yet what became of the call. */
  ownMerge(): Promise<{ merge: OwnMerge; underWay: boolean } | undefined>;
  /**
   * What governs the pull request at this moment, and the run's chain as one would be begun with it now; without a chain when
   * none of that name is in force, and without a configuration when there is no such branch.
   */
  configurationNow(base: Base, how: HowFresh): Promise<ConfigurationNow>;
  /** When GitHub refused this run's last merge call; `undefined` when it refused none. */
  mergeRefusedAt(): Promise<Date | undefined>;
  /** Records that the merge this run has begun was made, as this commit. */
  confirmMerge(sha: string): Promise<void>;
  pausedBy(): Promise<string | null>;
  /** The operator of this server has merging switched off. */
  mergingOff: boolean;
  /** The pushes of commits that webhooks told of. */
  pushesTold(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
  earlierRejections(): Promise<EarlierRejections>;
  merge: MergeOnce;
  /** The gate check of the run's head and base. */
  gate: GateHandle;
  mergeQueue: QueueHandle;
}

/** What the merge step may do to the gate check of its run's head and base. */
export interface GateHandle {
  /**
   * Turns it green for the proof, or renews it.
   * @throws GitHubError when the proof is stale, the session was overtaken, or GitHub does not answer.
   */
  open(proof: MergeProof, leaseMs: number): Promise<Passed>;
  /** Closes it again, if this run opened it. */
  withdraw(): Promise<void>;
  /** The pull request is merged, for these people's countersigns: the check stays as it is. */
  settle(mergeSha: string, people: readonly string[]): Promise<void>;
  /** Whether this run has opened it and nobody has closed it since. */
  isOpen(): Promise<boolean>;
  /** Whether another run holds it open at the moment. */
  isHeldByAnother(): Promise<boolean>;
}

/** Something a chain's step can name: `skill: <name>` or `action: <name>`. */
export interface StepHandler {
  readonly name: string;
  /** What it takes to use it; the policy holds every look against it. */
  readonly capability: Capability;
  /** What it leaves behind whenever it is done; a chain's step may ask for other or more. */
  readonly artifactDefaults?: readonly Expected[];
  /** The slots of the run's working memory that its outcomes fill; none when left out. */
  readonly cognitiveHints?: { readonly produces: readonly Slot[] };
  run(context: StepContext): Promise<StepResult>;
  /**
   * Set when the outcome can change while the head stays the same, as CI's does: reads it again, so that the gate
   * judges what is true now.
   */
  readonly refresh?: (context: StepContext) => Promise<Outcome | undefined>;
}

/** What earlier questions about merging one head into one base leave behind. */
export interface EarlierRejections {
  /** They rejected when this chain asked before, so each of them has to countersign now. */
  by: readonly AnsweringPerson[];
  /** Conditions that do not hold, for rejections that no answer to this question lifts. */
  elsewhere: readonly Explanation[];
}

export function pullRequestOf(context: StepContext): number {
  const { pullRequest } = context.state.run;
  if (pullRequest === null) throw new Error(`run ${context.state.run.id} is not about a pull request`);
  return pullRequest;
}
