import { canonicalJson } from '../../core/canonical.ts';
import { OWN_FILES } from '../../domain/artifact/left-files.ts';
import { criterion } from '../../domain/explanation/explanation.ts';
import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { PolicyEngine } from '../../domain/policy/engine.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { blocks, degraded, wantsPerson } from '../../domain/policy/gate/verdict.ts';
import type { MergeDecision } from '../../domain/policy/merge-gate.ts';
import { needsApproval, refusedAfter } from '../../domain/policy/permission.ts';
import { rulesOfStep } from '../../domain/rule/step-rules.ts';
import { blockedBy, heldByGates } from '../../domain/run/held-by-gates.ts';
import { brokenInputs } from '../actions/inputs.ts';
import { askPeople, judgeApproval, pollApproval } from '../approvals/approval.ts';
import type {
  AnsweredHandler,
  ApprovalAnswer,
  ApprovalContext,
  ApprovalResult,
} from '../approvals/approval-context.ts';
import { withLearned } from '../approvals/learned-rules.ts';
import { withheldQuestion } from '../approvals/withheld-question.ts';
import { judgeGates, type SkillOf } from '../gates/judge-gates.ts';
import { notPermitted } from '../gates/permission.ts';
import { reviewWithAccepted } from '../steps/judged-findings.ts';
import type { StepHandler } from '../steps/step.ts';

/** The stages of an attempt at a step, in their order. */
type Stage =
  | 'inputs'
  | 'permission'
  | 'gates_before'
  | 'approval'
  | 'run'
  | 'gates_after'
  | 'outcome'
  | 'completed';

/** The result of an attempt, and the stage that ended it. `completed`: it passed all of them. */
export type Attempt = ApprovalResult & { endedAt: Stage };

/** What an attempt needs besides its context. */
export interface StepParts {
  handler: StepHandler | AnsweredHandler;
  policy: PolicyEngine;
  /** The skills that gates ask and whose outcomes are read again before a merge. */
  skillOf: SkillOf;
}

/**
 * One attempt at a step, from the first check to the last. The first stage that does not let the step go on ends
 * the attempt. A step that waits is attempted again from the first stage, because everything may have changed.
 */
export async function attemptStep(parts: StepParts, context: ApprovalContext): Promise<Attempt> {
  const { handler, policy, skillOf } = parts;
  const { step, state } = context;
  const { capability } = handler;
  const rules = rulesOfStep(step);

  const invalid = rules.brokenInputs(context.inputs) ?? brokenInputs(handler, context);
  // Not retryable: another attempt has the same inputs.
  if (invalid) return ended('inputs', { kind: 'failed', reason: invalid, retryable: false });

  const mustAsk = needsApproval(step, capability);
  const denied = await notPermitted(context, capability, policy, mustAsk);
  if (denied) return ended('permission', denied);

  // The gates of an irreversible action are judged in the approval stage, together with the answers.
  const gates = capability.irreversible ? NO_GATES : gatesOfStep(step, state.run.settings.gates);
  const before = await judgeGates(context, gates.pre, skillOf);
  const held = heldByGates(context, gates, before, context.clock.now());
  if (held) return ended('gates_before', held);

  const asks = mustAsk || before.some(wantsPerson) || wasAsked(context);
  if (asks && state.run.pullRequest === null) return ended('approval', NOBODY_TO_ASK);
  if (asks && !wasAsked(context)) {
    const withheld = await withheldQuestion(context, skillOf);
    if (withheld) return ended('approval', withheld);
  }
  const answer = asks ? await poll(parts, context) : undefined;
  const result = await judgedFindings(context, await run(handler, context, answer));
  if (result.kind !== 'done') return ended(answer && answer.kind !== 'granted' ? 'approval' : 'run', result);

  const after = await judgeGates(context, gates.post, skillOf, new Map([[step.id, result.outcome]]));
  const blocking = after.filter(blocks);
  if (blocking.length > 0) return ended('gates_after', refused(result, blockedBy(blocking)));
  // The outcome is not kept while people are asked. None of its effects was requested, and the step runs again later.
  if (after.some(wantsPerson) && !asks) {
    if (state.run.pullRequest === null) return ended('gates_after', NOBODY_TO_ASK);
    return ended('gates_after', (await withheldQuestion(context, skillOf)) ?? (await askPeople(context)));
  }

  const outcome = degraded(result.outcome, [...before, ...after]);
  const unexpected = rules.brokenOutcome(outcome);
  if (unexpected) return ended('outcome', refused({ ...result, outcome }, unexpected));
  return ended('completed', { ...result, outcome });
}

/**
 * What the merge gate says of a merge step now. Records nothing.
 * @returns `undefined` if nobody was asked yet, `busy` if the answer is only a moment away
 */
export async function judgeMergeStep(
  { handler, policy, skillOf }: StepParts,
  context: ApprovalContext,
): Promise<MergeDecision | 'busy' | undefined> {
  const judged = await judgeApproval(context, skillOf);
  if (judged === 'busy') return 'busy';
  if (!judged?.decision.proof) return judged?.decision;
  const refusal = refusedAfter(
    { capability: handler.capability, policy, run: context.state.run },
    judged.approval,
    judged.pullRequest,
  );
  return refusal
    ? { ...judged.decision, why: criterion('unmet', refusal.summary), proof: undefined }
    : judged.decision;
}

function ended(endedAt: Stage, result: ApprovalResult): Attempt {
  return { ...result, endedAt };
}

/** Polls for answers to the step's question. A countersign raises the trust of the run, so the policy decides again. */
async function poll(
  { handler, policy, skillOf }: StepParts,
  context: ApprovalContext,
): Promise<ApprovalAnswer> {
  const answer = await pollApproval(context, skillOf);
  if (answer.kind !== 'granted') return answer;
  const refusal = refusedAfter(
    { capability: handler.capability, policy, run: context.state.run },
    answer.approval,
    answer.pullRequest,
  );
  if (!refusal) return answer;
  const approval = { ...answer.approval, status: 'void' } as const;
  return { kind: 'not_yet', result: { kind: 'failed', reason: refusal, retryable: false, approval } };
}

/**
 * A review counts without the findings that people accepted for its head, also if the step runs again. What they accepted
 * elsewhere changes only what is shown.
 */
async function judgedFindings(context: ApprovalContext, result: ApprovalResult): Promise<ApprovalResult> {
  if (result.kind !== 'done' || result.outcome.outcome_kind !== 'review_verdict') return result;
  if (result.outcome.findings.length === 0) return result;
  const ignored = context.state.run.settings.review?.ignore ?? [];
  const judged = reviewWithAccepted(result.outcome, await context.acceptances(), ignored);
  return { ...result, outcome: await withLearned(context, judged) };
}

/** @param answer `undefined` if nobody has to be asked */
async function run(
  handler: StepHandler | AnsweredHandler,
  context: ApprovalContext,
  answer: ApprovalAnswer | undefined,
): Promise<ApprovalResult> {
  if ('onAnswer' in handler) {
    if (!answer) throw new Error(`${handler.name} acts on an answer, and nobody was asked`);
    return handler.onAnswer(context, answer);
  }
  switch (answer?.kind) {
    case undefined:
      return handler.run(context);
    case 'granted':
      return { ...(await handler.run(context)), approval: answer.approval };
    case 'already_merged':
      return { kind: 'failed', reason: TOO_LATE, retryable: false };
    case 'not_yet':
      return answer.result;
  }
}

const NO_GATES: ReturnType<typeof gatesOfStep> = { pre: [], post: [] };

/** Only a pull request has an approval comment. Not retryable: it will not get one. */
const NOBODY_TO_ASK: ApprovalResult = {
  kind: 'failed',
  reason: reason('step.failed.error', 'the step needs an approval, and the run is about no pull request'),
  retryable: false,
};

const TOO_LATE = reason(
  'step.failed.error',
  'the pull request is merged already, so nobody can countersign this step',
);

/** Once a person was asked, a person must answer, even if the gate that asked for one has passed since. */
function wasAsked({ approval }: ApprovalContext): boolean {
  return approval !== undefined && approval.status !== 'void';
}

/** The refused outcome stays readable as an artifact. None of its effects is requested, and another attempt may differ. */
function refused(
  { outcome, blobs = [], approval }: Extract<ApprovalResult, { kind: 'done' }>,
  because: Reason,
): ApprovalResult {
  return {
    kind: 'failed',
    reason: because,
    retryable: true,
    blobs: [...blobs, { kind: 'log', name: OWN_FILES.refusedOutcome, data: canonicalJson(outcome) }],
    ...(approval ? { approval } : {}),
  };
}
