import { actionOf } from '../../domain/policy/capability.ts';
import { type RequestedChanges, requestingChanges } from '../../domain/policy/reviews-standing.ts';
import { GitHubError } from '../../ports/github.ts';
import type { StepContext } from '../steps/step.ts';

/**
 * Reads who currently requests changes on the pull request. `undefined` if that blocks nothing: the step
 * merges nothing, or the settings ignore it. If GitHub refuses or truncates the list, it is unknown.
 * Temporary failures are thrown, so that the poll is retried.
 */
export async function readRequestedChanges(
  { step, state, reader, repo }: StepContext,
  pullRequest: number,
): Promise<RequestedChanges | undefined> {
  if (!actionOf(step.uses)?.merges || state.run.settings.merge.changes_requested === 'ignore')
    return undefined;
  try {
    const { reviews, truncated } = await reader.pullRequestReviews(repo, pullRequest);
    if (truncated)
      return {
        known: false,
        because:
          'there are more reviews than are read; `merge: { changes_requested: ignore }` in the settings goes on without them',
      };
    const by = await Promise.all(
      requestingChanges(reviews).map(async (person) => ({
        person,
        role: await reader.role(repo, person.login),
      })),
    );
    return { known: true, by };
  } catch (error) {
    if (!(error instanceof GitHubError) || error.kind === 'unavailable' || error.kind === 'rate_limited')
      throw error;
    return { known: false, because: `GitHub refuses to tell (${error.kind}, ${error.status})` };
  }
}
