import { CountersignError } from '../../core/errors.ts';
import { aboutNothing } from '../../domain/audit/entry.ts';
import {
  deliveryIsWaiting,
  deliveryWithoutBody,
  replayAsked,
  unknownDelivery,
} from '../../messages/cli/cli.ts';
import { deliveryJson } from '../../messages/cli/delivery-json.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

/** Resets a finished delivery to new and enqueues it, in one transaction. */
export function deliveryReplay(
  { clock, tools }: Context,
  guid: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'write', async (storage) => {
    const [queue, jobOf] = await Promise.all([tools.enqueuer(storage), tools.deliveryJobs()]);
    return storage.transaction(async (tx) => {
      const delivery = await tx.deliveries.byGuid(guid);
      if (!delivery) {
        if ((await tx.deliveries.known([guid])).has(guid))
          throw new CountersignError('cli.no_body', deliveryWithoutBody(guid, 'processed again'));
        throw new CountersignError('cli.unknown_delivery', unknownDelivery(guid));
      }
      if (delivery.status === 'received' || delivery.status === 'processing') {
        throw new CountersignError('cli.delivery_is_waiting', deliveryIsWaiting(guid, delivery.status));
      }
      await tx.deliveries.setStatus(delivery.id, 'received', clock.now());
      await queue.enqueue(tx, jobOf(delivery));
      await tx.audit.record({
        kind: 'command.carried_out',
        ...aboutNothing({ kind: 'operator' }),
        verb: 'replay',
        via: { kind: 'command_line' },
        delivery: guid,
      });
      return {
        text: replayAsked(delivery),
        json: deliveryJson({ ...delivery, status: 'received', error: null, finishedAt: null }),
      };
    });
  });
}
