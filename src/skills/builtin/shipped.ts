import type { StepHandler } from '../../engine/steps/step.ts';
import { ci } from './ci/ci.ts';

import { type PrReviewDeps, prReview } from './review/pr-review.ts';

export { ci };

/** The built-in skills. */
export function builtInSkills(deps: PrReviewDeps): readonly StepHandler[] {
  return [prReview(deps), ci];
}

/** The same without a model, for callers that only need their names and declarations. */
export const SHIPPED_SKILLS = builtInSkills({ model: undefined });
