import { actionResultSchema } from '../outcome/action-result.ts';
import { OUTCOME_FIELDS } from '../outcome/outcome.ts';
import type { StepOutline } from './outline.ts';

const ACTION_FIELDS: readonly string[] = Object.keys(actionResultSchema.shape);

/**
 * All top-level fields that an outcome of the step can have. A skill can have any kind of outcome, so all
 * kinds count.
 */
export function outcomeFieldsOf({ action }: Pick<StepOutline, 'action'>): readonly string[] {
  return action === undefined ? OUTCOME_FIELDS : ACTION_FIELDS;
}
