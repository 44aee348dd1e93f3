import type { NewJob } from '../../../ports/jobs.ts';
import type { Tx } from '../../../ports/storage.ts';

/**
 * Jobs for the deliveries that the door has recorded, oldest first. The queue asks for them in its turns: in a burst the
 * door is spared the index of all waiting jobs, which costs more than the deliveries themselves (docs/adr/0019).
 */
export async function jobsOfNewDeliveries({ deliveries }: Tx, most: number): Promise<NewJob[]> {
  const taken = await deliveries.claimUnqueued(most);
  // As of when it came: what was enqueued for the same pull request since then waits for it.
  return taken.map(({ id, queueKey, receivedAt }) => ({ ...deliveryJob(id, queueKey), runAt: receivedAt }));
}

export function deliveryJob(deliveryId: number, key: string): NewJob {
  return { kind: 'delivery', key, payload: { deliveryId } };
}
