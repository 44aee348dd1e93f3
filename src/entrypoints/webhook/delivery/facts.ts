import { pullRequestKey } from '../../../ports/job-keys.ts';

/** What is stored beside a delivery's body and determines its queue key. */
export interface DeliveryFacts {
  action: string | null;
  installationId: number | null;
  repositoryId: number | null;
  /** The pull request that the delivery is about, if any. */
  pullRequest: number | null;
}

/**
 * Reads these fields leniently: a missing or malformed field is `null`. A payload's shape must never stop the
 * recording, because the delivery would then be lost before anybody could examine it. Written by hand, because
 * zod would take 4 MB of the intake thread.
 */
export function deliveryFacts(payload: object): DeliveryFacts {
  const { action, installation, repository, pull_request, issue } = payload as Record<string, unknown>;
  // GitHub sends a comment on a pull request as a comment on an issue that has a `pull_request`.
  const commented = memberOf(issue, 'pull_request') == null ? null : idIn(issue, 'number');
  return {
    action: typeof action === 'string' && action.length <= MAX_ACTION ? action : null,
    installationId: idIn(installation, 'id'),
    repositoryId: idIn(repository, 'id'),
    pullRequest: idIn(pull_request, 'number') ?? commented,
  };
}

/** Characters. */
const MAX_ACTION = 100;

function idIn(value: unknown, name: string): number | null {
  const id = memberOf(value, name);
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : null;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/**
 * The queue's key. Deliveries of one pull request run in sequence, those of different ones in parallel. A
 * delivery without a pull request is ordered within its repository.
 */
export function queueKey({ repositoryId, pullRequest }: DeliveryFacts, guid: string): string {
  if (repositoryId === null) return `delivery:${guid}`;
  return pullRequest === null ? `repo:${repositoryId}` : pullRequestKey(repositoryId, pullRequest);
}
