import { canonicalJson } from '../../core/canonical.ts';
import type { EvidenceRef } from '../../domain/explanation/evidence.ts';
import { type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { blocks, gateName, mayPassLater } from '../../domain/policy/gate/verdict.ts';
import { recheckInMs } from '../approvals/approval.ts';
import { degraded } from '../gates/degraded.ts';
import { judgeGates, type SkillOf } from '../gates/judge-gates.ts';
import type { StepContext, StepHandler, StepResult } from '../steps/step.ts';

/**
 * The handler behind its step's gates, judged anew at every look. Those of an irreversible action are judged with everything
 * else that must hold in the attempt itself, so they are not judged here.
 * @param asking the same handler behind a countersign, for a gate that wants a person.
 */
export function gated(handler: StepHandler, asking: StepHandler, skillOf: SkillOf): StepHandler {
  return {
    ...handler,
    async run(context) {
      const { pre, post } = gatesOfStep(context.step, context.state.run.settings.gates);
      if (actionOf(context.step.uses)?.irreversible || pre.length + post.length === 0)
        return handler.run(context);

      const before = await judgeGates(context, pre, skillOf);
      if (before.some(blocks)) return blockedOrWaiting(context, before.filter(blocks));
      if (isPaused(context)) return waits(context, 'step.waiting.paused', PAUSED);
      // Once a person was asked, a person answers: also when the gate that asked for one is passed by now, or comes after.
      const asks = before.some(wantsPerson) || isAsking(context);
      const result = await (asks ? asking : handler).run(context);
      if (result.kind !== 'done') return result;

      const fresh = new Map([[context.step.id, result.outcome]]);
      const after = await judgeGates(context, post, skillOf, fresh);
      if (after.some(blocks)) return refused(result, after.filter(blocks));
      // What it came to is not kept while people are asked: nothing of it was done yet, and the step finds it again then.
      if (after.some(wantsPerson) && !asks) return asking.run(context);
      return { ...result, outcome: degraded(result.outcome, [...before, ...after]) };
    },
  };
}

function wantsPerson({ gate_passed, on_failure }: GateVerdict): boolean {
  return !gate_passed && on_failure === 'require_human';
}

function isAsking({ approval }: StepContext): boolean {
  return approval !== undefined && approval.status !== 'void';
}

/**
 * What people or time can still settle is waited for, until the step's own timeout: a merge freeze or a missing label is no
 * reason to begin anew. What only a new commit can change fails at once.
 */
function blockedOrWaiting(context: StepContext, verdicts: readonly GateVerdict[]): StepResult {
  return verdicts.every(mayPassLater)
    ? waits(context, 'step.waiting.gate', said(verdicts), evidence(verdicts))
    : blocked(verdicts);
}

const PAUSED = 'its gates are passed, and the pull request is paused; `/countersign resume` goes on';

/** A step that waits for its gates is under way, so a pause, which keeps steps from starting, must be heard here. */
function isPaused({ state, invocation }: StepContext): boolean {
  return state.run.paused && invocation.status === 'waiting_until';
}

function waits(
  context: StepContext,
  code: ReasonCode,
  because: string,
  found: EvidenceRef[] = [],
): StepResult {
  const now = context.clock.now();
  const since = context.invocation.startedAt ?? now;
  return {
    kind: 'waits',
    for: 'until',
    until: new Date(now.getTime() + recheckInMs(now.getTime() - since.getTime())),
    reason: reason(code, because, found),
  };
}

function blocked(verdicts: readonly GateVerdict[]): Extract<StepResult, { kind: 'failed' }> {
  const because = reason('gate.blocked.policy', said(verdicts), evidence(verdicts));
  return { kind: 'failed', reason: because, retryable: false };
}

/** Whoever asks why can read what was refused; what the step wished for on the strength of it is not done. */
function refused(
  result: Extract<StepResult, { kind: 'done' }>,
  verdicts: readonly GateVerdict[],
): StepResult {
  return {
    ...blocked(verdicts),
    // Another attempt may find something else.
    retryable: true,
    blobs: [
      ...(result.blobs ?? []),
      { kind: 'log', name: 'refused-outcome.json', data: canonicalJson(result.outcome) },
    ],
    ...(result.approval ? { approval: result.approval } : {}),
  };
}

function said(verdicts: readonly GateVerdict[]): string {
  return verdicts.map(({ summary }) => summary).join('; ');
}

function evidence(verdicts: readonly GateVerdict[]): EvidenceRef[] {
  return verdicts.map((verdict) => ({ kind: 'gate', id: verdict.gate, label: gateName(verdict) }));
}
