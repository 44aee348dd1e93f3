import type { StepContext } from '../../engine/steps/step.ts';
import type { Purpose } from '../../ports/model.ts';

/**
 * The purpose of a step's call to a model: whose budgets it counts against, and what its rows name.
 * @param of the skill and the path of its artifact; omit it if none is chosen yet
 */
export function purposeOf(
  { state: { run }, session }: Pick<StepContext, 'state' | 'session'>,
  of: Pick<Purpose, 'skill' | 'artifact'> = { skill: null, artifact: null },
): Purpose {
  return {
    runId: run.id,
    sessionId: session.id,
    repositoryId: run.repositoryId,
    pullRequest: run.pullRequest,
    ...of,
  };
}
