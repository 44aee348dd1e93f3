import type { NewJob } from '../../../ports/jobs.ts';
import type { Queue } from '../../../ports/queue.ts';
import type { Delivery, NewDelivery, Tx } from '../../../ports/storage.ts';
import { deliveryFacts, queueKey } from './facts.ts';

/**
 * Creates jobs for recorded deliveries, oldest first. The queue calls this when it looks for work, not the
 * webhook entry point when it records. In a burst, recording then skips the index of all waiting jobs, which
 * costs more than the deliveries (docs/adr/0019).
 */
export async function jobsOfNewDeliveries(
  { deliveries }: Tx,
  most: number,
  worker?: string,
): Promise<NewJob[]> {
  const taken = await deliveries.claimUnqueued(most, worker);
  // The time of arrival, so that jobs enqueued later for the same pull request run after this one.
  return taken.map(({ id, queueKey, installationId, receivedAt }) => ({
    ...deliveryJob(id, queueKey, installationId),
    runAt: receivedAt,
  }));
}

/**
 * Records deliveries. While the queue has room, their jobs are created in the same transaction, because a turn of
 * the queue would be another commit.
 * @returns those that are recorded, and whether some wait for a turn of the queue
 */
export async function recordWithJobs(
  tx: Tx,
  queue: Pick<Queue, 'enqueue' | 'hasRoomFor'>,
  deliveries: readonly NewDelivery[],
): Promise<{ recorded: Awaited<ReturnType<Tx['deliveries']['record']>>; areWaiting: boolean }> {
  const hasRoom = queue.hasRoomFor(deliveries);
  const given = hasRoom ? deliveries.map((one) => ({ ...one, queueKey: null })) : deliveries;
  const recorded = await tx.deliveries.record(given);
  if (!hasRoom) return { recorded, areWaiting: true };
  const jobs = deliveries.flatMap(({ queueKey, installationId, receivedAt }, index): NewJob[] => {
    const { id, fresh } = recorded[index] ?? {};
    if (id === undefined || !fresh || queueKey === null) return [];
    return [{ ...deliveryJob(id, queueKey, installationId), runAt: receivedAt }];
  });
  await queue.enqueue(tx, ...jobs);
  return { recorded, areWaiting: false };
}

export function deliveryJob(deliveryId: number, key: string, installationId: number | null): NewJob {
  return { kind: 'delivery', installationId, key, payload: { deliveryId } };
}

/** The job of a recorded delivery that is processed again. */
export function jobOfDelivery({ id, guid, body, installationId }: Delivery): NewJob {
  const key = queueKey(deliveryFacts(JSON.parse(new TextDecoder().decode(body))), guid);
  return deliveryJob(id, key, installationId);
}
