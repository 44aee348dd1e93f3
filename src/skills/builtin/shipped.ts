import type { StepHandler } from '../../engine/steps/step.ts';
import { ci } from './ci/ci.ts';
import { type CodexReview, codexPrReview } from './review/codex-pr-review.ts';
import { type PrReviewDeps, prReview } from './review/pr-review.ts';
import { stalePullRequests } from './stale/stale-pull-requests.ts';

export { ci };

/** The built-in skills. */
export function builtInSkills({
  codex,
  ...deps
}: PrReviewDeps & { codex?: CodexReview }): readonly StepHandler[] {
  const review = prReview(deps);
  return [review, codexPrReview(review, codex), ci, stalePullRequests];
}

/** The same without a model, for callers that only need their names and declarations. */
export const SHIPPED_SKILLS = builtInSkills({ model: undefined });
