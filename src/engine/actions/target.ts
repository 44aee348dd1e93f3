import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { StepContext } from '../steps/step.ts';

/**
 * The pull request or issue of an action, which always is the run's own. `with: {pr}` can name it for readers
 * of the YAML, but no other: a chain that was fired for one pull request must not act on another.
 */
export function issueNumber(context: Pick<StepContext, 'inputs' | 'state'>): number | undefined {
  const own = context.state.run.pullRequest ?? context.state.run.facts.trigger.issue_number;
  const named = context.inputs.pr ?? context.inputs.issue ?? own;
  return typeof own === 'number' && Number(named) === own ? own : undefined;
}

/** Why an action that needs a pull request or issue cannot run, for a run about neither. */
export function noSubject(name: string): { kind: 'failed'; reason: Reason; retryable: false } {
  return {
    kind: 'failed',
    reason: reason(
      'step.failed.error',
      `${name} needs a pull request or issue, and this run is about neither`,
    ),
    retryable: false,
  };
}
