import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import type { ReadTx, Storage } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { writeMigratedDatabase } from '../../support/migrated-database.ts';
import { at, delivery, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';

const folder = temporaryFolders();
const guids = Array.from({ length: 130 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
const guidOf = (n: number) => guids[n] ?? '';

describe('an archive of deliveries', () => {
  let storage: Storage;
  let database: BetterSqlite3.Database;

  beforeEach(async () => {
    const path = join(folder(), 'test.db');
    await writeMigratedDatabase(path);
    storage = await openStorage(`sqlite:${path}`, { clock: new ManualClock('2026-06-01T00:00:00.000Z') });
    database = new BetterSqlite3(path);
    onTestFinished(() => {
      database.close();
      return storage.close();
    });
    await storage.transaction(async ({ deliveries, runs }) => {
      const some = guids.map((guid, n) =>
        delivery(guid, {
          receivedAt: at(n),
          action: n % 2 === 0 ? null : 'created',
          installationId: n % 3 === 0 ? null : 7,
        }),
      );
      const recorded = await deliveries.record(some);
      await deliveries.claimUnqueued(999);
      for (const { id } of recorded) await deliveries.setStatus(id, 'done', at(200 + id));
      // These stay rows.
      await deliveries.setStatus(3, 'failed', at(300), 'broken');
      await runs.insert(runState('run1', { deliveryId: 5 }));
    });
  });

  const archive = (before = at(999)) => storage.transaction((tx) => tx.deliveries.archive(before, at(999)));
  const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

  async function answers({ deliveries }: ReadTx) {
    return {
      known: await deliveries.known([...guids, 'unknown']),
      byGuid: await Promise.all(guids.map((guid) => deliveries.byGuid(guid))),
      byId: await Promise.all(guids.map((_, n) => deliveries.get(n + 1))),
      newest: await deliveries.list({ limit: 9 }),
      done: await deliveries.list({ limit: 100, status: 'done' }),
      failed: await deliveries.list({ limit: 100, status: 'failed' }),
      all: await deliveries.list({ limit: 1_000 }),
      counts: await deliveries.countByStatus(),
    };
  }

  it('gives the same answers as its rows', { tags: 'slow' }, async () => {
    const before = await answers(storage.read);
    expect(await archive()).toBe(true);
    // 128 without the one that failed and the one that a run began with.
    expect([count('delivery_archives'), count('deliveries')]).toEqual([1, 4]);
    expect(await answers(storage.read)).toEqual(before);
    expect(await storage.transaction((tx) => answers(tx))).toEqual(before);
    expect(await archive()).toBe(false);
  });

  it('keeps a delivery that comes again from being processed twice', async () => {
    await archive();
    const again = [delivery(guidOf(0)), delivery('new'), delivery(guidOf(127)), delivery(guidOf(2))];
    const recorded = await storage.transaction((tx) => tx.deliveries.record(again));
    // The one that failed is processed again.
    expect(recorded.map(({ id, fresh }) => [id, fresh])).toEqual([
      [1, false],
      [131, true],
      [128, false],
      [3, true],
    ]);
  });

  it('is rows again when one of them is replayed, and an archive again later', async () => {
    const before = database.prepare('SELECT * FROM deliveries WHERE id <> 9 ORDER BY id').all();
    await archive();
    await storage.transaction((tx) => tx.deliveries.setStatus(9, 'received', at(400)));
    expect(database.prepare('SELECT * FROM deliveries WHERE id <> 9 ORDER BY id').all()).toEqual(before);
    expect([count('delivery_archives'), count('archived_guids')]).toEqual([0, 0]);
    expect(await storage.read.deliveries.countByStatus()).toMatchObject({
      received: 1,
      done: 128,
      failed: 1,
    });
    await storage.transaction((tx) => tx.deliveries.setStatus(9, 'done', at(401)));
    await archive();
    expect(count('delivery_archives')).toBe(1);
  });

  it('is rows again when a run begins with one of them', async () => {
    await archive();
    await storage.transaction((tx) => tx.runs.insert(runState('run2', { deliveryId: 9 })));
    expect((await storage.read.runs.get('run2'))?.deliveryId).toBe(9);
    expect(count('delivery_archives')).toBe(0);
  });

  it('is not made while one of them is new, or with the last delivery, whose number would be given again', async () => {
    expect(await archive(at(250))).toBe(false);
    await archive();
    expect(database.prepare('SELECT max(id) FROM deliveries').pluck().get()).toBe(130);
  });

  it('is made of deliveries whose numbers began again after all others were deleted', async () => {
    await storage.transaction((tx) => tx.cursors.set('archived_deliveries', 5_000, at(999)));
    expect(await archive()).toBe(true);
    expect(count('delivery_archives')).toBe(1);
  });

  it('gives its deliveries and their bodies to retention', async () => {
    await archive();
    const page = (kind: 'archived_bodies' | 'archived_deliveries') =>
      storage.read.pruning.page(kind, { after: null, before: at(999), limit: 9 });
    expect((await page('archived_bodies')).ids).toEqual([128]);
    expect((await page('archived_deliveries')).ids).toEqual([128]);
    const ids = guids.map((_, n) => n + 1);
    await storage.transaction(async ({ pruning }) => {
      await pruning.remove('archived_bodies', [128], at(999));
      expect(await pruning.remove('bodies', ids, at(999))).toBe(130);
    });
    await archive();
    expect((await page('archived_bodies')).ids).toEqual([]);
    await storage.transaction(async ({ pruning }) => {
      await pruning.remove('archived_deliveries', [128], at(999));
      expect(await pruning.remove('deliveries', ids, at(999))).toBe(129);
    });
    expect([count('deliveries'), count('delivery_bodies'), count('body_packs')]).toEqual([1, 0, 0]);
    expect(await storage.read.deliveries.countByStatus()).toMatchObject({ done: 1, failed: 0 });
  });
});

describe('packing bodies together', () => {
  it('passes over a damaged pack, and names it', async () => {
    const path = join(folder(), 'test.db');
    await writeMigratedDatabase(path);
    const storage = await openStorage(`sqlite:${path}`, {
      clock: new ManualClock('2026-06-01T00:00:00.000Z'),
    });
    onTestFinished(() => storage.close());
    for (const guid of ['a', 'b', 'c']) {
      await storage.transaction((tx) => tx.deliveries.record([delivery(guid)]));
    }
    const database = new BetterSqlite3(path);
    database.exec('UPDATE body_packs SET bytes = substr(bytes, 1, 20) WHERE id = 2');
    database.close();
    const packed = await storage.transaction((tx) => tx.deliveries.packTogether(0, at(9)));
    expect(packed).toMatchObject({ last: 3, damaged: [{ id: 2 }] });
    const { deliveries } = storage.read;
    const bodies = await Promise.all([1, 3].map(async (id) => (await deliveries.get(id))?.body));
    expect(bodies).toEqual([delivery('a').body, delivery('c').body].map((body) => Buffer.from(body)));
    await expect(deliveries.get(2)).rejects.toThrow('The row 2 of the table deliveries');
  });
});
