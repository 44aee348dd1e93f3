import { CountersignError } from '../../core/errors.ts';
import { replayDelivery } from '../../engine/jobs/replay-delivery.ts';
import {
  deliveryIsWaiting,
  deliveryWithoutBody,
  replayAsked,
  unknownDelivery,
} from '../../messages/cli/cli.ts';
import { deliveryJson } from '../../messages/cli/delivery-json.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findDelivery } from './find-delivery.ts';

/**
 * Has a finished delivery processed again.
 * @param given its number, or its GUID
 */
export function deliveryReplay(
  { clock, tools }: Context,
  given: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'write', async (storage) => {
    const { guid } = await findDelivery(storage.read, given, 'processed again');
    const [queue, jobOf] = await Promise.all([tools.enqueuer(storage), tools.deliveryJobs()]);
    const replayed = await storage.transaction((tx) =>
      replayDelivery(
        tx,
        { queue, jobOf, now: clock.now(), by: { kind: 'operator' }, via: { kind: 'command_line' } },
        guid,
      ),
    );
    switch (replayed.kind) {
      case 'no_body':
        throw new CountersignError('cli.no_body', deliveryWithoutBody(guid, 'processed again'));
      case 'unknown':
        throw new CountersignError('cli.unknown_delivery', unknownDelivery(guid));
      case 'is_waiting':
        throw new CountersignError('cli.delivery_is_waiting', deliveryIsWaiting(guid, replayed.status));
      case 'asked': {
        const { delivery } = replayed;
        return {
          text: replayAsked(delivery),
          json: deliveryJson({ ...delivery, status: 'received', error: null, finishedAt: null }),
        };
      }
    }
  });
}
