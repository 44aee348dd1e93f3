import { actionOf } from '../../domain/policy/capability.ts';
import { tightened } from '../../domain/policy/countersign-rules.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { conditionOf } from '../../domain/policy/gate/verdict.ts';
import { mayAsk } from '../../domain/policy/rollout.ts';
import { mergedBy, mergeMethod } from '../../domain/run/question.ts';
import { wouldAsk, wouldAskToMerge } from '../../messages/run/rollout.ts';
import { judgeGates, type SkillOf } from '../gates/judge-gates.ts';
import { withheldStep } from '../steps/withheld.ts';
import { readToAsk } from './approval.ts';
import type { ApprovalContext, ApprovalResult } from './approval-context.ts';

/**
 * How the attempt ends if the rollout lets nobody be asked: what would have been asked, and what would block it then. It waits for
 * everything that a question waits for. `undefined` if people may be asked.
 */
export async function withheldQuestion(
  context: ApprovalContext,
  skillOf: SkillOf,
): Promise<ApprovalResult | undefined> {
  const rollout = await context.rolloutNow();
  if (mayAsk(rollout.level)) return undefined;
  const read = await readToAsk(context);
  if ('kind' in read) return read;
  const { step, inputs, state } = context;
  const { settings, baseRef, headSha } = state.run;
  const action = actionOf(step.uses);
  // Those of other steps were judged before.
  const gates = action?.irreversible
    ? await judgeGates(context, gatesOfStep(step, settings.gates).pre, skillOf)
    : [];
  const heldUpBy = [...read.question.blockedBy, ...gates.map(conditionOf)].filter(
    ({ status }) => status !== 'met',
  );
  const { count } = tightened(settings.countersign, step.approval);
  const about = { count, heldUpBy: heldUpBy.map(({ summary }) => summary) };
  const details = {
    would: action?.merges ? 'ask, then merge' : 'ask',
    head_sha: headSha,
    countersigns: count,
    ...(heldUpBy.length > 0 && { held_up_by: about.heldUpBy }),
  };
  if (!action?.merges) return withheldStep(context, rollout, wouldAsk(step.id, about), details);
  const by = mergedBy(inputs, settings);
  const method = mergeMethod(inputs, settings);
  return withheldStep(context, rollout, wouldAskToMerge({ ...about, by, method, base: baseRef }), {
    ...details,
    base: baseRef,
    method,
    merged_by: by,
  });
}
