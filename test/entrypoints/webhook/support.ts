import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { deliveryFacts } from '../../../src/entrypoints/webhook/delivery/facts.ts';
import type { Webhook } from '../../../src/entrypoints/webhook/delivery/intake.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import type { NewDelivery, Tx } from '../../../src/ports/storage.ts';

export const SECRET = 'a-secret-only-for-tests';

/** GitHub's example payloads, by event. Loaded with require, because importing 2 MB of JSON would have it type-checked. */
export const EXAMPLES: { name: string; examples: object[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples',
);

export function sign(body: string | Uint8Array, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

export async function listen(server: Server): Promise<{ url: string; port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}`, port: address.port };
}

export function webhook(guid: string, payload: object = { repository: { id: 7 } }): Webhook {
  return { guid, event: 'push', facts: deliveryFacts(payload), body: Buffer.from(JSON.stringify(payload)) };
}

/**
 * The part of storage that intake uses, in memory, so that tests can count transactions, hold them open and let them fail:
 * `beforeCommit` runs at the end of each. `real-storage.test.ts` tests the database itself.
 */
export function fakeStorage(
  beforeCommit: (deliveries: readonly NewDelivery[]) => Promise<void> = async () => {},
) {
  const recorded = new Map<string, number>();
  const wokenAfter: string[][] = [];
  const groups: number[] = [];

  const storage = {
    async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      const seen: NewDelivery[] = [];
      const deliveries = {
        async record(all: readonly NewDelivery[]) {
          return all.map((delivery) => {
            const known = recorded.get(delivery.guid);
            if (known === undefined) seen.push(delivery);
            return {
              id: known ?? recorded.size + seen.length,
              guid: delivery.guid,
              fresh: known === undefined,
            };
          });
        },
      };
      const result = await work({ deliveries } as unknown as Tx);
      await beforeCommit(seen);
      for (const { guid } of seen) recorded.set(guid, recorded.size + 1);
      groups.push(seen.length);
      return result;
    },
  };
  const queue = {
    ...fullQueue(),
    wake: () => void wokenAfter.push([...recorded.keys()]),
  };
  return { storage, queue, recorded, wokenAfter, groups };
}

/** A queue without a free place, which leaves the deliveries' jobs to a later turn. */
export function fullQueue(): Pick<Queue, 'enqueue' | 'hasRoomFor' | 'wake'> {
  return { enqueue: async () => undefined, hasRoomFor: () => false, wake: () => undefined };
}
