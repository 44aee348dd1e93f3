import type { StepContext } from '../steps/step.ts';

/**
 * The pull request or issue an action is about: always the run's own. `with: {pr}` may name it, for readers of the
 * YAML, but not another one: a chain fired for one pull request has no business on the next.
 */
export function issueNumber(context: StepContext): number | undefined {
  const own = context.state.run.pullRequest ?? context.state.run.facts.trigger.issue_number;
  const named = context.inputs.pr ?? context.inputs.issue ?? own;
  return typeof own === 'number' && Number(named) === own ? own : undefined;
}
