import { reason } from '../../domain/explanation/reason.ts';
import type { ActionResult } from '../../domain/outcome/action-result.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import { type Rollout, rolloutInWords } from '../../domain/policy/rollout.ts';
import type { PlainResult, StepContext } from './step.ts';

/**
 * How a step ends that the rollout does not let go on. It has no verdict, so no condition takes it for done.
 * @param would a clause, such as "would have asked a maintainer to countersign"
 */
export function withheldStep(
  { step }: Pick<StepContext, 'step'>,
  rollout: Rollout,
  would: string,
  details: ActionResult['details'],
): Extract<PlainResult, { kind: 'withheld' }> {
  return {
    kind: 'withheld',
    reason: reason('step.skipped.rollout', `${would}; ${rolloutInWords(rollout)}`),
    outcome: makeOutcome<'action_result'>({
      outcome_kind: 'action_result',
      summary: would,
      passed: null,
      action: step.uses.name,
      details: { ...details, rollout: rollout.level },
    }),
  };
}
