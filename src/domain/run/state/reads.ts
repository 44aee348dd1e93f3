import type { Json } from '../../../core/canonical.ts';
import type { Step } from '../../chain/chain.ts';
import { compileExpression, compileTemplate, type Reference } from '../../expression/condition.ts';
import { shortened } from './limits.ts';

/** Per step. */
const MAX_READS = 20;

/**
 * The paths that a step reads in its condition and inputs, such as `steps.review.outcome.passed`, sorted,
 * without duplicates.
 * @throws ExpressionError for a text that the parser refuses
 */
export function readsOf(step: Step): string[] {
  const references = [
    ...(step.condition === undefined ? [] : compileExpression(step.condition).references),
    ...textsIn(step.with).flatMap((text) => compileTemplate(text).references),
  ];
  return [...new Set(references.map(pathOf))].sort().slice(0, MAX_READS);
}

function pathOf({ root, path }: Reference): string {
  return shortened([root, ...path].join('.'));
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
