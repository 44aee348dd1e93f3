import type { Chain } from '../../domain/chain/chain.ts';
import type { EffectOf } from '../../domain/effect/effect.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { AnsweringPerson, Approval } from '../../domain/policy/approval.ts';
import type { Push } from '../../domain/policy/authorship.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { OwnMerge } from '../../domain/run/plan.ts';
import type { GitHubReader, PullRequest } from '../../ports/github.ts';
import type { Base, Configuration, HowFresh } from '../configuration/configuration.ts';
import type { QueueHandle } from '../effects/enqueue.ts';
import type { Passed } from '../effects/gate-check.ts';
import type { MergeOnce } from '../effects/merge.ts';
import type { GateContext } from '../gates/judge-gates.ts';
import type { PlainResult, StepDeclaration } from '../steps/step.ts';

/**
 * What asking the maintainers and merging need besides a step's own context. Only the pipeline of a session, the approvals and the
 * merge are given it. It writes nothing to GitHub either, except the merge and its gate check, and those only for a proof.
 */
export interface ApprovalContext extends GateContext {
  /** The reader for what a person waits for: it is the last to stop when GitHub's limits run low. */
  readonly urgentReader: GitHubReader;
  /** `time`: nothing is known to have happened, so the attempt should be a cheap one. */
  readonly because: 'time' | 'event';
  readonly newId: (prefix: 'apr') => string;
  /** The approval that belongs to this invocation, if it was asked for. */
  readonly approval: Approval | undefined;
  /** What the outbox knows of the approval's comment; `beingWritten`: GitHub may have newer words of ours already. */
  approvalComment(
    approvalId: string,
  ): Promise<(ApprovalComment & { beingWritten: boolean }) | { refused: string } | undefined>;
  /** How often this run has asked the maintainers already. */
  readonly timesAsked: number;
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
  readonly mergingOff: boolean;
  /** The pushes of commits that webhooks told of. */
  pushesTold(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
  earlierRejections(): Promise<EarlierRejections>;
  readonly merge: MergeOnce;
  /** The gate check of the run's head and base. */
  readonly gate: GateHandle;
  readonly mergeQueue: QueueHandle;
}

/** What an attempt came to, with what becomes of the step's question. */
export type ApprovalResult = (
  | PlainResult
  | { kind: 'waits'; for: 'approval'; until: Date; reason: Reason }
) & {
  approval?: Approval;
  /** The question that `approval` replaces. */
  replaced?: Approval;
};

/** What a look at a step's question came to. */
export type ApprovalAnswer =
  | Granted
  | { kind: 'already_merged'; pullRequest: PullRequest; approval: Approval }
  /** @property unsettled nothing was found out yet, so what was found before still holds for a moment */
  | { kind: 'not_yet'; result: ApprovalResult; unsettled?: true };

export interface Granted {
  kind: 'granted';
  /** Of a step that merges, and of no other. */
  proof: MergeProof | undefined;
  why: Explanation;
  approval: Approval;
  pullRequest: PullRequest;
}

/**
 * An action that acts on the answer to its question itself, as the merge does. It also gets a no, because the
 * merge then closes its gate check.
 */
export interface AnsweredHandler extends StepDeclaration {
  readonly onAnswer: (context: ApprovalContext, answer: ApprovalAnswer) => Promise<ApprovalResult>;
}

/** The comment that puts a question to the maintainers, as it was written. */
export interface ApprovalComment {
  githubId: number;
  bodyHash: string;
  /** The account that GitHub named as its author then; `undefined` when it named none. */
  authorId: number | undefined;
}

interface ConfigurationNow {
  configuration: Configuration | undefined;
  chain: Chain | undefined;
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

/** What earlier questions about merging one head into one base leave behind. */
export interface EarlierRejections {
  /** They rejected when this chain asked before, so each of them has to countersign now. */
  by: readonly AnsweringPerson[];
  /** Conditions that do not hold, for rejections that no answer to this question lifts. */
  elsewhere: readonly Explanation[];
}
