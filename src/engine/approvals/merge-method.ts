import type { MergeQuestion } from '../../domain/policy/merge-gate.ts';
import type { StepContext } from '../steps/step.ts';

/** From the step's `with: {method}`, else from the repository's settings. */
export function mergeMethod({ inputs, state }: StepContext): MergeQuestion['method'] {
  const { method } = inputs;
  return method === 'merge' || method === 'squash' || method === 'rebase'
    ? method
    : state.run.settings.merge.method;
}
