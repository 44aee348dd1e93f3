import { type ApprovingReviews, approvingHead } from '../../domain/policy/approving-reviews.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import { type CountersignRules, needsReview } from '../../domain/policy/countersign-rules.ts';
import type { Review } from '../../domain/policy/facts/reviews.ts';
import type { Answerer } from '../../domain/policy/merge-gate.ts';
import { type RequestedChanges, requestingChanges } from '../../domain/policy/reviews-standing.ts';
import { GitHubError } from '../../ports/github.ts';
import type { StepContext } from '../steps/step.ts';
import { readAnswerer } from './answerers.ts';

interface Reviews {
  /** `undefined` if requested changes block nothing: the step merges nothing, or the settings ignore them. */
  requested: RequestedChanges | undefined;
  /** `undefined` if they were not read, because the step merges nothing and needs none. */
  approving: ApprovingReviews<Answerer> | undefined;
}

/**
 * Reads who requests changes on the pull request and whose review approves the head of the run, with their current roles. If
 * GitHub refuses or truncates the list, both are unknown. Temporary failures are thrown, so that the poll is
 * retried.
 */
export async function readReviews(
  { step, state, reader, repo }: Pick<StepContext, 'step' | 'state' | 'reader' | 'repo'>,
  pullRequest: number,
  rules: CountersignRules,
): Promise<Reviews> {
  const { headSha, settings } = state.run;
  const merges = actionOf(step.uses)?.merges === true;
  const blocks = merges && settings.merge.changes_requested !== 'ignore';
  if (!merges && !needsReview(rules)) return { requested: undefined, approving: undefined };
  const unknown = (because: string, orElse = ''): Reviews => ({
    requested: blocks ? { known: false, because: `${because}${orElse}` } : undefined,
    approving: { known: false, because },
  });
  try {
    const { reviews, truncated } = await reader.pullRequestReviews(repo, pullRequest);
    if (truncated)
      return unknown(
        'there are more reviews than are read',
        '; `merge: { changes_requested: ignore }` in the settings goes on without them',
      );
    const [requested, approving] = await Promise.all([
      blocks ? requestedBy(reviews) : undefined,
      Promise.all(approvingHead(reviews, headSha).map((person) => readAnswerer(reader, repo, person, rules))),
    ]);
    return { requested, approving: { known: true, by: approving } };
  } catch (error) {
    if (!(error instanceof GitHubError) || error.kind === 'unavailable' || error.kind === 'rate_limited')
      throw error;
    return unknown(`GitHub refuses to tell (${error.kind}, ${error.status})`);
  }

  async function requestedBy(reviews: readonly Review[]): Promise<RequestedChanges> {
    const by = await Promise.all(
      requestingChanges(reviews).map(async (person) => ({
        person,
        role: await reader.role(repo, person.login),
      })),
    );
    return { known: true, by };
  }
}
