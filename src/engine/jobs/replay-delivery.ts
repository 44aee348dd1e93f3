import { aboutNothing } from '../../domain/audit/entry.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Delivery, Tx } from '../../ports/storage.ts';
import type { AskedBy } from '../configuration/change-stored-chain.ts';

export type Replayed =
  | { kind: 'asked'; delivery: Delivery }
  | { kind: 'unknown' }
  /** Retention deleted it. */
  | { kind: 'no_body' }
  | { kind: 'is_waiting'; status: 'received' | 'processing' };

/** Resets a finished delivery to new and enqueues it. */
export async function replayDelivery(
  tx: Tx,
  {
    queue,
    jobOf,
    now,
    by,
    via,
  }: AskedBy & { queue: Pick<Queue, 'enqueue'>; jobOf: (delivery: Delivery) => NewJob; now: Date },
  guid: string,
): Promise<Replayed> {
  const delivery = await tx.deliveries.byGuid(guid);
  if (!delivery) return { kind: (await tx.deliveries.known([guid])).has(guid) ? 'no_body' : 'unknown' };
  const { status } = delivery;
  if (status === 'received' || status === 'processing') return { kind: 'is_waiting', status };
  await tx.deliveries.setStatus(delivery.id, 'received', now);
  await queue.enqueue(tx, jobOf(delivery));
  await tx.audit.record({
    kind: 'command.carried_out',
    ...aboutNothing(by),
    verb: 'replay',
    via,
    delivery: guid,
  });
  return { kind: 'asked', delivery };
}
