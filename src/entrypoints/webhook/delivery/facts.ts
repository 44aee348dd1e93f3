import { z } from 'zod';
import { pullRequestKey } from '../../../ports/jobs.ts';

/** What is stored beside a delivery's body and determines its queue key. */
export interface DeliveryFacts {
  action: string | null;
  installationId: number | null;
  repositoryId: number | null;
  /** The pull request that the delivery is about, if any. */
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
 * Reads these fields leniently: a missing or malformed field is `null`. A payload's shape must never stop the
 * recording, because the delivery would then be lost before anybody could examine it.
 */
export function deliveryFacts(payload: object): DeliveryFacts {
  const { action, installation, repository, pull_request, issue } = fields.parse(payload);
  // GitHub sends a comment on a pull request as a comment on an issue that has a `pull_request`.
  const commented = issue?.pull_request == null ? null : issue.number;
  return {
    action: action ?? null,
    installationId: installation?.id ?? null,
    repositoryId: repository?.id ?? null,
    pullRequest: pull_request?.number ?? commented,
  };
}

/**
 * The queue's key. Deliveries of one pull request run in sequence, those of different ones in parallel. A
 * delivery without a pull request is ordered within its repository.
 */
export function queueKey({ repositoryId, pullRequest }: DeliveryFacts, guid: string): string {
  if (repositoryId === null) return `delivery:${guid}`;
  return pullRequest === null ? `repo:${repositoryId}` : pullRequestKey(repositoryId, pullRequest);
}
