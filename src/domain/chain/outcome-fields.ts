import { actionResultSchema } from '../outcome/action-result.ts';
import { OUTCOME_FIELDS } from '../outcome/outcome.ts';
import type { StepOutline } from './outline.ts';

const ACTION_FIELDS: readonly string[] = Object.keys(actionResultSchema.shape);

/** Everything that an outcome of the step can say, at its outermost. Which kind a skill comes to is its own matter. */
export function outcomeFieldsOf({ action }: Pick<StepOutline, 'action'>): readonly string[] {
  return action === undefined ? OUTCOME_FIELDS : ACTION_FIELDS;
}
