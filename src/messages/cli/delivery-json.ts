import { z } from 'zod';
import { DELIVERY_STATUSES, type DeliverySummary } from '../../ports/storage.ts';

/** The JSON of a delivery, for the command line and the API. */
export const deliveryJsonSchema = z.strictObject({
  id: z.int(),
  guid: z.string(),
  event: z.string(),
  action: z.string().nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  error: z.string().nullable(),
  received_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
});

export function deliveryJson(
  delivery: Omit<DeliverySummary, 'installationId'>,
): z.infer<typeof deliveryJsonSchema> {
  return {
    id: delivery.id,
    guid: delivery.guid,
    event: delivery.event,
    action: delivery.action,
    status: delivery.status,
    attempts: delivery.attempts,
    error: delivery.error,
    received_at: delivery.receivedAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  };
}
