import { z } from 'zod';
import { pullRequestKey } from '../../../ports/jobs.ts';

/** What is written beside a delivery's body, and what its place in the queue depends on. */
export interface Facts {
  action: string | null;
  installationId: number | null;
  repositoryId: number | null;
  /** The pull request it is about, when it is about one. */
  pullRequest: number | null;
}

const int = z.int().positive();
const withId = z.object({ id: int }).nullish().catch(null);

const fields = z.object({
  action: z.string().max(100).nullish().catch(null),
  installation: withId,
  repository: withId,
  pull_request: z.object({ number: int }).nullish().catch(null),
  issue: z.object({ number: int, pull_request: z.unknown().optional() }).nullish().catch(null),
});

/**
 * Reads what every delivery is filed under. A field that is missing or of another type is `null`: recording must
 * never fail because of a payload's shape, or the delivery would be lost before anybody could look at it.
 */
export function factsOf(payload: object): Facts {
  const { action, installation, repository, pull_request, issue } = fields.parse(payload);
  // A comment on a pull request arrives as one on an issue that has a `pull_request`.
  const commented = issue?.pull_request == null ? null : issue.number;
  return {
    action: action ?? null,
    installationId: installation?.id ?? null,
    repositoryId: repository?.id ?? null,
    pullRequest: pull_request?.number ?? commented,
  };
}

/**
 * The queue's key: deliveries of one pull request are processed one after another, others beside them. What is about no pull
 * request is kept in order within its repository.
 */
export function queueKey({ repositoryId, pullRequest }: Facts, guid: string): string {
  if (repositoryId === null) return `delivery:${guid}`;
  return pullRequest === null ? `repo:${repositoryId}` : pullRequestKey(repositoryId, pullRequest);
}
