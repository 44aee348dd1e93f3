import { deliveryTable } from '../../messages/cli/cli.ts';
import { deliveryJson } from '../../messages/cli/delivery-json.ts';
import type { DeliveryStatus } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export interface DeliveryListOptions extends DatabaseOption {
  status?: DeliveryStatus;
  limit: number;
}

export function deliveryList(
  { clock, tools, progress }: Context,
  { status, limit, database }: DeliveryListOptions,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    let damaged = 0;
    const deliveries = await read.deliveries.list(
      { limit, ...(status === undefined ? {} : { status }) },
      ({ message }) => {
        damaged++;
        progress(message);
      },
    );
    return {
      failed: damaged > 0,
      text: (screen) => deliveryTable(deliveries, status, clock.now(), screen),
      json: deliveries.map(deliveryJson),
    };
  });
}
