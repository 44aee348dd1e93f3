import type { StepHandler } from '../session/step.ts';
import { ci } from './ci/ci.ts';
import { prReview } from './pr-review/pr-review.ts';
import type { PromptDeps } from './prompt/handler.ts';

/** The skills that ship with Countersign. */
export function builtInSkills(deps: PromptDeps): readonly StepHandler[] {
  return [prReview(deps), ci];
}

/** The same without a model, for whoever only asks which there are. */
export const SHIPPED_SKILLS = builtInSkills({ model: undefined });
