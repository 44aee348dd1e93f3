import { deliveryTable } from '../../messages/cli/cli.ts';
import type { DeliveryStatus } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { deliveryJson } from './json.ts';

export interface DeliveryListOptions extends DatabaseOption {
  status?: DeliveryStatus;
  limit: number;
}

export function deliveryList(
  { clock, tools }: Context,
  { status, limit, database }: DeliveryListOptions,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const deliveries = await read.deliveries.list({ limit, ...(status === undefined ? {} : { status }) });
    return {
      text: deliveryTable(deliveries, status, clock.now()),
      json: deliveries.map(deliveryJson),
    };
  });
}
