import type { NewJob } from '../../../ports/jobs.ts';
import type { Tx } from '../../../ports/storage.ts';

/**
 * Creates jobs for recorded deliveries, oldest first. The queue calls this when it looks for work, not the
 * webhook entry point when it records. In a burst, recording then skips the index of all waiting jobs, which
 * costs more than the deliveries (docs/adr/0019).
 */
export async function jobsOfNewDeliveries({ deliveries }: Tx, most: number): Promise<NewJob[]> {
  const taken = await deliveries.claimUnqueued(most);
  // The time of arrival, so that jobs enqueued later for the same pull request run after this one.
  return taken.map(({ id, queueKey, receivedAt }) => ({ ...deliveryJob(id, queueKey), runAt: receivedAt }));
}

export function deliveryJob(deliveryId: number, key: string): NewJob {
  return { kind: 'delivery', key, payload: { deliveryId } };
}
