import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { StepContext, StepHandler, StepResult } from '../steps/step.ts';

export type ApprovalContext = StepContext;
export type ApprovalResult = StepResult;

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

/** An action that acts on the answer to its question itself, as the merge does: also on a no, which closes its gate check. */
export interface AnsweredHandler extends Omit<StepHandler, 'run' | 'refresh'> {
  readonly onAnswer: (context: ApprovalContext, answer: ApprovalAnswer) => Promise<ApprovalResult>;
}
