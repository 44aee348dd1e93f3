import type { StepContext } from '../steps/step.ts';

/**
 * The pull request or issue of an action, which always is the run's own. `with: {pr}` can name it for readers
 * of the YAML, but no other: a chain that was fired for one pull request must not act on another.
 */
export function issueNumber(context: StepContext): number | undefined {
  const own = context.state.run.pullRequest ?? context.state.run.facts.trigger.issue_number;
  const named = context.inputs.pr ?? context.inputs.issue ?? own;
  return typeof own === 'number' && Number(named) === own ? own : undefined;
}
