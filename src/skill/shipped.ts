import type { StepHandler } from '../session/step.ts';
import { ci } from './ci/ci.ts';
import { prReview } from './pr-review/pr-review.ts';

/** The skills that ship with Countersign. */
export const SHIPPED_SKILLS: readonly StepHandler[] = [prReview, ci];
