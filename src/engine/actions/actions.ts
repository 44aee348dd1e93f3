import type { ActionName } from '../../domain/policy/capability.ts';
import type { AnsweredHandler } from '../approvals/approval-context.ts';
import type { StepHandler } from '../steps/step.ts';
import { ghComment } from './gh-comment.ts';
import { ghLabel } from './gh-label.ts';
import { ghMerge } from './gh-merge.ts';

/** The handler of every declared action. The type requires one for each. */
export const ACTIONS: Readonly<Record<ActionName, StepHandler | AnsweredHandler>> = {
  'gh-comment': ghComment,
  'gh-label': ghLabel,
  'gh-merge': ghMerge,
};
