import { CountersignError } from '../../core/errors.ts';
import type { CompiledExpression } from './expression.ts';
import { readsGap } from './state-path.ts';
import { isNothing, member } from './value.ts';

export { type CompiledExpression, compileExpression } from './expression.ts';
export type { Reference } from './reference.ts';
export { ExpressionError } from './syntax.ts';
export { compileTemplate, renderWith } from './template.ts';

/**
 * Whether a step's condition holds. Only the value `true` counts.
 *
 * If any outcome that the condition mentions is missing (its step was skipped, failed or has not run), the
 * condition is false, so that a CI that has not run cannot satisfy `not steps.ci.outcome.passed`. An outcome
 * whose `passed` is null has no verdict: both `passed` and `not passed` are false. The same applies to a slot
 * of `state.working` that is a gap: nothing follows from an entry that it does not have.
 */
export function evaluateCondition(compiled: CompiledExpression, context: object): boolean {
  const steps = member(context, 'steps');
  const missing = compiled.references.some(
    ({ root, path: [step, name] }) =>
      root === 'steps' && name === 'outcome' && isNothing(member(member(steps, step), 'outcome')),
  );
  return !missing && !readsGap(compiled.references, context) && compiled.evaluate(context) === true;
}

/**
 * Whether a condition refers to a step. If so, only the condition decides what the end of that step means.
 */
export function asksAbout(compiled: CompiledExpression, step: { id: string; index: number }): boolean {
  return compiled.references.some(
    ({ root, path }) => root === 'steps' && (path[0] === step.id || path[0] === step.index),
  );
}

/** The members of a step that an expression can read. */
export interface StepFacts {
  id: string;
  status: string;
  /** Absent or null if the step has no outcome. */
  outcome?: object | null;
}

/**
 * The `steps` of a context, in the order of the chain's definition, so that `steps[0]` and `steps.review` are
 * the same object. It has no prototype, so that an id such as `constructor` works like any other.
 * @throws CountersignError `bad_step_id` for an id of digits only, which would hide a position
 */
export function stepsContext(order: readonly StepFacts[]): Readonly<Record<string, StepFacts>> {
  const steps: Record<string, StepFacts> = Object.create(null);
  for (const [index, step] of order.entries()) {
    if (/^\d+$/.test(step.id)) {
      throw new CountersignError('bad_step_id', `the step id "${step.id}" would be taken for a position`);
    }
    steps[index] = step;
    steps[step.id] = step;
  }
  return steps;
}
