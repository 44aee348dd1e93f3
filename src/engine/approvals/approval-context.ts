import type { Chain } from '../../domain/chain/chain.ts';
import type { EffectOf } from '../../domain/effect/effect.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { Acceptance } from '../../domain/outcome/accept.ts';
import type { RuleHistory } from '../../domain/outcome/learned.ts';
import type { AnsweringPerson, Approval } from '../../domain/policy/approval.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { Rollout } from '../../domain/policy/rollout.ts';
import type { OwnMerge } from '../../domain/run/plan.ts';
import type { Run } from '../../domain/run/run.ts';
import type { GitHubReader, PullRequest } from '../../ports/github.ts';
import type { Base, Configuration, HowFresh } from '../configuration/configuration.ts';
import type { QueueHandle } from '../effects/enqueue.ts';
import type { Passed } from '../effects/gate-check.ts';
import type { MergeOnce, Note } from '../effects/merge.ts';
import type { GateContext } from '../gates/judge-gates.ts';
import type { PlainResult, StepDeclaration } from '../steps/step.ts';

/**
 * What approvals and merges need besides a step's own context. Only the pipeline of a session, the approvals
 * and the merge get it. It writes nothing to GitHub either, except the merge and its gate check, and those
 * only with a proof.
 */
export interface ApprovalContext extends GateContext {
  /** The reader for requests that a person waits for. It is the last to stop when GitHub's limits run low. */
  readonly urgentReader: GitHubReader;
  readonly newId: (prefix: 'apr') => string;
  /** The approval of this invocation, if it was requested. */
  readonly approval: Approval | undefined;
  /**
   * The state of the approval's comment in the outbox. `beingWritten`: GitHub may already have a newer text
   * of ours. `asksNoMore`: it shows something else by now, so that reactions to it can mean something else, too.
   */
  approvalComment(
    approvalId: string,
  ): Promise<
    (ApprovalComment & { beingWritten: boolean }) | { refused: string } | { asksNoMore: true } | undefined
  >;
  /** How often this run has asked the maintainers. */
  readonly timesAsked: number;
  /**
   * The merge call that any step of this run has begun; `undefined` if there is none. A crash may have hidden
   * its answer.
   */
  mergeBegun(): Promise<EffectOf<'merge'> | undefined>;
  /** The merge of this head by any run of this app. `underWay` while the result of the call is unknown. */
  ownMerge(): Promise<{ merge: OwnMerge; underWay: boolean } | undefined>;
  /**
   * The current configuration for the pull request, and the run's chain as it would start now. No chain if
   * none of that name is in force, and no configuration if the branch does not exist.
   */
  configurationNow(base: Base, how: HowFresh): Promise<ConfigurationNow>;
  /** When GitHub refused this run's last merge call; `undefined` if it refused none. */
  mergeRefusedAt(): Promise<Date | undefined>;
  /** Records that the merge begun by this run succeeded with this commit. */
  confirmMerge(sha: string): Promise<void>;
  pausedBy(): Promise<string | null>;
  /** The findings that people accepted for the head of the run. */
  readonly acceptances: () => Promise<readonly Acceptance[]>;
  /** What people accepted of these rules in the repository, on any pull request. */
  readonly histories: (rules: readonly string[]) => Promise<readonly RuleHistory[]>;
  /** The run whose step began this one, or began the run that did; this one if no step began it. `undefined` if it is gone. */
  outermost(): Promise<Run | undefined>;
  /** The operator has switched merging off on this server. */
  readonly mergingOff: boolean;
  /** The rollout that counts for the run: that of its beginning, or that of now if it is lower. */
  rolloutNow(): Promise<Rollout>;
  earlierRejections(): Promise<EarlierRejections>;
  readonly merge: MergeOnce;
  /** What is written in the transaction that records the result of the attempt, before it. */
  readonly notes: readonly Note[];
  /** What the attempt is recording, and has not waited for. */
  readonly recording: readonly Promise<unknown>[];
  /** The gate check of the run's head and base. */
  readonly gate: GateHandle;
  readonly mergeQueue: QueueHandle;
}

/** The result of an attempt, with the step's changed approval. */
export type ApprovalResult = (
  | PlainResult
  | { kind: 'waits'; for: 'approval'; until: Date; reason: Reason }
) & {
  approval?: Approval;
  /** The approval that `approval` replaces. */
  replaced?: Approval;
};

/** The result of polling a step's approval. */
export type ApprovalAnswer =
  | Granted
  | { kind: 'already_merged'; pullRequest: PullRequest; approval: Approval }
  /** @property unsettled nothing was decided yet, so the previous result still holds for a moment */
  | { kind: 'not_yet'; result: ApprovalResult; unsettled?: true };

export interface Granted {
  kind: 'granted';
  /** Only for a step that merges. */
  proof: MergeProof | undefined;
  why: Explanation;
  approval: Approval;
  pullRequest: PullRequest;
}

/**
 * An action that handles the answer to its approval itself, as the merge does. It also gets negative answers,
 * because the merge then closes its gate check.
 */
export interface AnsweredHandler extends StepDeclaration {
  readonly onAnswer: (context: ApprovalContext, answer: ApprovalAnswer) => Promise<ApprovalResult>;
}

/** The approval comment as it was written. */
export interface ApprovalComment {
  githubId: number;
  bodyHash: string;
  /** The account that GitHub named as its author; `undefined` if it named none. */
  authorId: number | undefined;
  /** GitHub's global id; `undefined` if it named none. */
  nodeId: string | undefined;
}

interface ConfigurationNow {
  configuration: Configuration | undefined;
  chain: Chain | undefined;
}

/** The merge step's access to the gate check of its run's head and base. */
export interface GateHandle {
  /**
   * Turns it green for the proof, or renews it.
   * @throws GitHubError if the proof is stale, the session was superseded, or GitHub does not answer
   */
  open(proof: MergeProof, leaseMs: number): Promise<Passed>;
  /** Closes it again, if this run opened it. */
  withdraw(): Promise<void>;
  /** Writes what opening it left to the caller. */
  note(note: Note): Promise<void>;
  /**
   * The pull request is merged, with these people's countersigns. The check stays as it is. Written with the
   * result of the attempt.
   */
  settle(mergeSha: string, people: readonly string[]): void;
  /** Whether this run opened it and it is still open. */
  isOpen(): Promise<boolean>;
  /** Whether another run holds it open now. */
  isHeldByAnother(): Promise<boolean>;
}

/** What earlier approvals for merging one head into one base leave behind. */
export interface EarlierRejections {
  /** They rejected an earlier approval of this chain, so each of them must countersign now. */
  by: readonly AnsweringPerson[];
  /** Unmet conditions, for rejections that no answer to this approval lifts. */
  elsewhere: readonly Explanation[];
}
