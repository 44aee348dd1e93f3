import { canonicalJson } from '../../core/canonical.ts';
import type { EvidenceRef } from '../../domain/explanation/evidence.ts';
import { criterion } from '../../domain/explanation/explanation.ts';
import { type Reason, type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { PlacedGate } from '../../domain/gate/placed.ts';
import type { GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import type { PolicyEngine } from '../../domain/policy/engine.ts';
import { degraded } from '../../domain/policy/gate/degraded.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { blocks, gateName, mayPassLater, wantsPerson } from '../../domain/policy/gate/verdict.ts';
import type { MergeDecision } from '../../domain/policy/merge-gate.ts';
import { needsApproval, refusedAfter } from '../../domain/policy/permission.ts';
import { rulesOfStep } from '../../domain/rule/step-rules.ts';
import { askPeople, judgeApproval, pollApproval, recheckInMs } from '../approvals/approval.ts';
import type {
  AnsweredHandler,
  ApprovalAnswer,
  ApprovalContext,
  ApprovalResult,
} from '../approvals/approval-context.ts';
import { judgeGates, type SkillOf } from '../gates/judge-gates.ts';
import { notPermitted } from '../gates/permission.ts';
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

/** What an attempt came to, and the stage that ended it; `completed` went through all of them. */
export type Attempt = ApprovalResult & { endedAt: Stage };

/** What a step is run with. */
export interface StepParts {
  handler: StepHandler | AnsweredHandler;
  policy: PolicyEngine;
  /** The skills that gates ask and whose outcomes are read again before a merge. */
  skillOf: SkillOf;
}

/**
 * One attempt at a step, from the first check to the last. A step that waits is attempted again, and every attempt goes through all
 * stages: what was true a moment ago counts for nothing. The first stage that does not let the step go on ends the attempt.
 */
export async function attemptStep(parts: StepParts, context: ApprovalContext): Promise<Attempt> {
  const { handler, policy, skillOf } = parts;
  const { step, state } = context;
  const { capability } = handler;
  const rules = rulesOfStep(step);

  const invalid = rules.brokenInputs(context.inputs);
  // The inputs are those of the run: another attempt would have the same ones.
  if (invalid) return ended('inputs', { kind: 'failed', reason: invalid, retryable: false });

  const isAskedFor = needsApproval(step, capability);
  const denied = await notPermitted(context, capability, policy, isAskedFor);
  if (denied) return ended('permission', denied);

  // Those of an irreversible action are judged with the answers to its question, in the approval stage.
  const gates = capability.irreversible ? NO_GATES : gatesOfStep(step, state.run.settings.gates);
  const before = await judgeGates(context, gates.pre, skillOf);
  const held = heldByGates(context, gates, before);
  if (held) return ended('gates_before', held);

  const asks = isAskedFor || before.some(wantsPerson) || wasAsked(context);
  const answer = asks ? await poll(parts, context) : undefined;
  const result = await run(handler, context, answer);
  if (result.kind !== 'done') return ended(answer && answer.kind !== 'granted' ? 'approval' : 'run', result);

  const after = await judgeGates(context, gates.post, skillOf, new Map([[step.id, result.outcome]]));
  const blocking = after.filter(blocks);
  // Another attempt may find something else.
  if (blocking.length > 0) return ended('gates_after', refused(result, blockedBy(blocking)));
  // What it came to is not kept while people are asked: nothing of it was done yet, and the step finds it again then.
  if (after.some(wantsPerson) && !asks) return ended('gates_after', await askPeople(context));

  const outcome = degraded(result.outcome, [...before, ...after]);
  const unexpected = rules.brokenOutcome(outcome);
  if (unexpected) return ended('outcome', refused({ ...result, outcome }, unexpected));
  return ended('completed', { ...result, outcome });
}

/**
 * What the merge gate says of a merge step at this moment; `undefined` if nobody was asked yet, `busy` if it can be told in a moment.
 * Nothing is recorded.
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

/** Looks for answers to the step's question. A countersign gives the run its trust, so the policy decides again on that. */
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

/** @param answer `undefined` when nobody is asked */
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

const TOO_LATE = reason(
  'step.failed.error',
  'the pull request is merged already, so nobody can countersign this step',
);

/** Once a person was asked, a person answers: also when the gate that asked for one is passed by now, or comes after. */
function wasAsked({ approval }: ApprovalContext): boolean {
  return approval !== undefined && approval.status !== 'void';
}

const PAUSED = 'its gates are passed, and the pull request is paused; `/countersign resume` goes on';

/**
 * What people or time can still settle is waited for, until the step's own timeout: a merge freeze or a missing label is no
 * reason to begin anew. What only a new commit can change fails at once.
 */
function heldByGates(
  context: ApprovalContext,
  { pre, post }: Record<'pre' | 'post', readonly PlacedGate[]>,
  verdicts: readonly GateVerdict[],
): ApprovalResult | undefined {
  if (pre.length + post.length === 0) return undefined;
  const blocking = verdicts.filter(blocks);
  if (blocking.length > 0) {
    return blocking.every(mayPassLater)
      ? waits(context, 'step.waiting.gate', summaries(blocking), evidence(blocking))
      : { kind: 'failed', reason: blockedBy(blocking), retryable: false };
  }
  // A step that waits for its gates is under way, so a pause, which keeps steps from starting, must be heard here.
  const isPaused = context.state.run.paused && context.invocation.status === 'waiting_until';
  return isPaused ? waits(context, 'step.waiting.paused', PAUSED) : undefined;
}

function waits(
  context: ApprovalContext,
  code: ReasonCode,
  because: string,
  found: EvidenceRef[] = [],
): ApprovalResult {
  const now = context.clock.now();
  const since = context.invocation.startedAt ?? now;
  return {
    kind: 'waits',
    for: 'until',
    until: new Date(now.getTime() + recheckInMs(now.getTime() - since.getTime())),
    reason: reason(code, because, found),
  };
}

/** Whoever asks why can read what was refused. What the step requested on the strength of it is not done. */
function refused(
  { outcome, blobs = [], approval }: Extract<ApprovalResult, { kind: 'done' }>,
  because: Reason,
): ApprovalResult {
  return {
    kind: 'failed',
    reason: because,
    retryable: true,
    blobs: [...blobs, { kind: 'log', name: 'refused-outcome.json', data: canonicalJson(outcome) }],
    ...(approval ? { approval } : {}),
  };
}

function blockedBy(verdicts: readonly GateVerdict[]): Reason {
  return reason('gate.blocked.policy', summaries(verdicts), evidence(verdicts));
}

function summaries(verdicts: readonly GateVerdict[]): string {
  return verdicts.map(({ summary }) => summary).join('; ');
}

function evidence(verdicts: readonly GateVerdict[]): EvidenceRef[] {
  return verdicts.map((verdict) => ({ kind: 'gate', id: verdict.gate, label: gateName(verdict) }));
}
