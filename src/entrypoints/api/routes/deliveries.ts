import { z } from 'zod';
import { deliveryJson, deliveryJsonSchema } from '../../../messages/cli/delivery-json.ts';
import { DELIVERY_STATUSES } from '../../../ports/storage.ts';
import { cursorOf, NO_QUERY, pageCursor, pageLimit, pageOf, type Route, route } from '../route.ts';

const position = z.tuple([z.int().positive()]).transform(([id]) => id);

/** What was received. It concerns whole installations, so nobody sees it who is limited to repositories. */
export const DELIVERY_ROUTES: readonly Route[] = [
  route({
    at: '/deliveries',
    id: 'listDeliveries',
    about:
      'Received webhooks, newest first, without their bodies. A page looks at a bounded number of them, so one with few or no items can have a `next`.',
    scope: 'operate',
    path: NO_QUERY,
    query: z.strictObject({
      limit: pageLimit,
      cursor: pageCursor(position),
      status: z.enum(DELIVERY_STATUSES).optional(),
      event: z.string().optional().describe('As GitHub names it, such as `pull_request`.'),
      repository: z.string().optional().describe('`owner/name`.'),
    }),
    answer: pageOf(deliveryJsonSchema),
    async handle({ query: { limit, cursor, status, event, repository }, read, isOperator }) {
      if (!isOperator) return undefined;
      const { items, next } = await read.operations.deliveries({
        limit,
        ...(cursor !== undefined && { before: cursor }),
        ...(status !== undefined && { status }),
        ...(event !== undefined && { event }),
        ...(repository !== undefined && { repository }),
      });
      return { items: items.map(deliveryJson), next: next === undefined ? null : cursorOf(next) };
    },
  }),
];
