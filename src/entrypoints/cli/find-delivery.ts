import { CountersignError } from '../../core/errors.ts';
import { deliveryWithoutBody, unknownDelivery } from '../../messages/cli/cli.ts';
import type { Delivery, ReadTx } from '../../ports/storage.ts';

/**
 * A delivery with what GitHub sent.
 * @param given its number, or its GUID
 * @param purpose what cannot be done without it
 * @throws CountersignError `cli.unknown_delivery`, or `cli.no_body` if retention deleted its content
 */
export async function findDelivery(
  { deliveries }: Pick<ReadTx, 'deliveries'>,
  given: string,
  purpose: Parameters<typeof deliveryWithoutBody>[1],
): Promise<Delivery> {
  const found = /^\d{1,15}$/.test(given)
    ? await deliveries.get(Number(given))
    : await deliveries.byGuid(given);
  if (found) return found;
  if ((await deliveries.known([given])).has(given))
    throw new CountersignError('cli.no_body', deliveryWithoutBody(given, purpose));
  throw new CountersignError('cli.unknown_delivery', unknownDelivery(given));
}
