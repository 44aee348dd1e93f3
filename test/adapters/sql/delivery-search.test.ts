import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import type { DeliverySearch } from '../../../src/ports/operations.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { writeMigratedDatabase } from '../../support/migrated-database.ts';
import { at, delivery, runState } from '../../support/rows.ts';
import { watchDatabases } from '../../support/statements.ts';
import { temporaryFolders } from '../../support/temp.ts';

const folder = temporaryFolders();
/** Five whole archives, a sixth that lacks what stays a row, and rows. */
const COUNT = 6 * 128 + 40;

describe('a search for deliveries', () => {
  let storage: Storage;
  const database = watchDatabases();

  beforeAll(async () => {
    const path = join(folder(), 'test.db');
    await writeMigratedDatabase(path);
    storage = await openStorage(`sqlite:${path}`, { clock: new ManualClock('2026-06-01T00:00:00.000Z') });
    await storage.transaction(async ({ deliveries, runs }) => {
      const recorded = await deliveries.record(
        Array.from({ length: COUNT }, (_, n) =>
          delivery(`guid-${n}`, {
            receivedAt: at(n),
            event: n === 3 ? 'ping' : 'check_run',
            action: n % 2 === 0 ? null : 'created',
            body: Buffer.from(
              JSON.stringify({ repository: { full_name: n % 100 === 7 ? 'Acme/Shop' : 'acme/other' } }),
            ),
          }),
        ),
      );
      await deliveries.claimUnqueued(COUNT);
      for (const { id } of recorded) await deliveries.setStatus(id, 'done', at(COUNT));
      await deliveries.setStatus(200, 'failed', at(COUNT), 'It broke');
      await runs.insert(runState('run1', { deliveryId: 300, repository: 'acme/shop' }));
    });
    for (let more = true; more; )
      more = await storage.transaction((tx) => tx.deliveries.archive(at(9 * COUNT), at(9 * COUNT)));
  });
  afterAll(async () => {
    database.stop();
    await storage.close();
  });

  /** All that is found from page to page, and how many pages that took. */
  async function all(search: Omit<DeliverySearch, 'limit' | 'before'>, limit = 50) {
    const ids: number[] = [];
    let pages = 0;
    for (let before: number | undefined; ; pages++) {
      const { items, next } = await storage.read.operations.deliveries({
        ...search,
        limit,
        ...(before !== undefined && { before }),
      });
      expect(items.length).toBeLessThanOrEqual(limit);
      ids.push(...items.map(({ id }) => id));
      if (next === undefined) return { ids, pages: pages + 1 };
      before = next;
    }
  }

  const numbers = (is: (n: number) => boolean) =>
    Array.from({ length: COUNT }, (_, n) => n)
      .filter(is)
      .map((n) => n + 1)
      .reverse();

  it.each<[Omit<DeliverySearch, 'limit' | 'before'>, (n: number) => boolean]>([
    [{}, () => true],
    [{ status: 'done' }, (n) => n !== 199],
    [{ status: 'failed' }, (n) => n === 199],
    [{ event: 'ping' }, (n) => n === 3],
    [{ text: 'RUN.CREATED' }, (n) => n % 2 === 1 && n !== 3],
    [{ text: 'broke' }, (n) => n === 199],
    [{ text: 'guid-12' }, (n) => String(n).startsWith('12')],
    [{ repository: 'acme/SHOP' }, (n) => n % 100 === 7 || n === 299],
    [{ repository: 'acme/sho' }, () => false],
  ])(
    'for %j finds each that fits once, newest first, over as many pages as it takes',
    async (search, fits) => {
      expect((await all(search)).ids).toEqual(numbers(fits));
    },
  );

  it.each<[Omit<DeliverySearch, 'limit'>, number]>([
    [{}, 2],
    [{ text: 'nowhere' }, 2],
    [{ repository: 'acme/nowhere' }, 5],
  ])('for %j asks the database for the same, however many there are', async (search, most) => {
    const before = 200;
    database.reset();
    await storage.read.operations.deliveries({ ...search, limit: 50, before });
    const few = database.work().statements;
    database.reset();
    await storage.read.operations.deliveries({ ...search, limit: 50 });
    expect([few, database.work().statements <= most]).toEqual([expect.any(Number), true]);
    expect(few).toBeLessThanOrEqual(most);
  });

  it('opens four archives at most, and says where to go on', async () => {
    const { items, next } = await storage.read.operations.deliveries({ text: 'nowhere', limit: 50 });
    expect([items, next]).toEqual([[], 2 * 128 + 1]);
  });
});
