import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import { pullRequestKey } from '../../src/ports/job-keys.ts';
import { MERGE_ONLY, open, start } from '../scenario/support.ts';
import { REPO } from '../support/harness.ts';
import { at, delivery, runState } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';

const RUNS = process.env.COUNTERSIGN_LONG === '1' ? 500 : 12;
const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);

const newFolder = temporaryFolders();

describe('a database with a page of garbage in the middle', () => {
  async function damaged(): Promise<string> {
    const path = join(newFolder(), 'test.db');
    const storage = await openStorage(`sqlite:${path}`);
    await storage.transaction(async (tx) => {
      await tx.runs.insert(runState('run1'));
      await tx.deliveries.record([delivery('g1')]);
    });
    await storage.close();
    spoil(path);
    return path;
  }

  /** Overwrites the first page of deliveries while nobody has the file open. */
  function spoil(path: string): void {
    const db = new BetterSqlite3(path);
    const page = db
      .prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'deliveries'")
      .pluck();
    const [root, size] = [page.get() ?? 0, Number(db.pragma('page_size', { simple: true }))];
    db.close();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(size, 'garbage '), 0, size, (root - 1) * size);
    closeSync(file);
  }

  it('is reported as damaged, and from then on accepts nothing', async () => {
    const path = await damaged();
    const storage = await openStorage(`sqlite:${path}`);
    const before = readFileSync(path);
    const failure = {
      code: 'storage.unavailable',
      message: `The database ${path} is damaged. Stop the app, keep the file, and put a backup in its place.`,
    };
    const record = storage.transaction((tx) => tx.deliveries.record([delivery('g2')]));
    await expect(record).rejects.toMatchObject(failure);
    // This table is intact, but a write next to garbage may be lost with it tomorrow.
    const insert = storage.transaction((tx) => tx.runs.insert(runState('run2')));
    await expect(insert).rejects.toMatchObject(failure);
    await expect(storage.check()).rejects.toMatchObject(failure);
    expect(await storage.read.runs.load('run1')).toEqual(runState('run1'));
    await storage.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is reported as damaged to readers, too', async () => {
    const path = await damaged();
    const storage = await openStorage(`sqlite:${path}`);
    await expect(storage.read.deliveries.get(1)).rejects.toMatchObject({ code: 'storage.unavailable' });
    await expect(storage.check()).rejects.toThrow('is damaged');
    await storage.close();
  });

  it('makes the app refuse webhooks and report that it is not ready, so that GitHub keeps what it sends', {
    tags: 'slow',
  }, async () => {
    const folder = newFolder();
    const harness = await start({ chain: MERGE_ONLY, folder });
    const { number } = await open(harness);
    await harness.down();
    spoil(join(folder, 'countersign.db'));
    await harness.up();
    const { github, app } = harness;
    await github.comment(REPO, number, 'mia', '/countersign status');
    await github.settle();
    expect(github.deliveries.at(-1)).toMatchObject({ event: 'issue_comment', status: 503 });
    expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
  });
});

test('a delivery whose body is damaged is given up with a reason, and later ones are done', {
  tags: 'slow',
}, async () => {
  const folder = newFolder();
  const harness = await start({ chain: MERGE_ONLY, folder });
  const { number } = await open(harness);
  await harness.down();
  const db = new BetterSqlite3(join(folder, 'countersign.db'));
  const id = db.prepare<[], number>('SELECT max(id) FROM deliveries').pluck().get() ?? 0;
  db.prepare("UPDATE deliveries SET status = 'received' WHERE id = ?").run(id);
  db.prepare(
    'UPDATE body_packs SET bytes = substr(bytes, 1, 20) WHERE id = (SELECT max(id) FROM body_packs)',
  ).run();
  const repository = db.prepare<[], number>('SELECT repository_id FROM pull_requests').pluck().get() ?? 0;
  db.prepare(
    `INSERT INTO jobs (kind, key, payload, run_at, attempts)
       VALUES ('delivery', ?, json_object('deliveryId', ?), '2000-01-01T00:00:00.000Z', 0)`,
  ).run(pullRequestKey(repository, number), id);
  db.close();

  await harness.up();
  await harness.github.comment(REPO, number, 'mia', '/countersign status');
  await harness.advance(300_000);
  const { deliveries } = harness.app.storage.read;
  expect((await deliveries.list({ status: 'failed', limit: 9 })).map(({ id, error }) => [id, error])).toEqual(
    [[id, expect.stringMatching(new RegExp(`^The row ${id} of the table deliveries cannot be read: `))]],
  );
  expect(await deliveries.countByStatus()).toMatchObject({ received: 0, processing: 0, failed: 1 });
});

describe(`a log that a power cut left behind, seed ${SEED}`, () => {
  const TRANSACTIONS = 12;

  /** A database and its log as they are on the disk while the app runs. */
  async function running(): Promise<{ database: Buffer; log: Buffer }> {
    const path = join(newFolder(), 'test.db');
    const storage = await openStorage(`sqlite:${path}`);
    for (let n = 0; n < TRANSACTIONS; n++) {
      await storage.transaction(async (tx) => {
        // Bytes that do not compress, so that each transaction is several pages.
        const body = createHash('shake256', { outputLength: 6_000 }).update(`${n}`).digest();
        await tx.deliveries.record([delivery(`g${n}`, { body })]);
        await tx.jobs.insert({ kind: 'delivery', key: `g${n}`, payload: '0', runAt: at(0) });
      });
    }
    const lying = { database: readFileSync(path), log: readFileSync(`${path}-wal`) };
    await storage.close();
    return lying;
  }

  /** Opens what is left after the cut. @returns how many transactions are left, each of them complete. */
  async function opened(path: string): Promise<number> {
    const storage = await openStorage(`sqlite:${path}`);
    const deliveries = await storage.read.deliveries.list({ limit: 100 });
    const jobs = await storage.read.jobs.countDue(at(0));
    await storage.check();
    await storage.transaction((tx) => tx.runs.insert(runState('after')));
    await storage.close();
    expect(deliveries.map(({ guid }) => guid).reverse()).toEqual(deliveries.map((_, n) => `g${n}`));
    // The one that came with it, and the one that it will still get.
    expect(jobs).toBe(2 * deliveries.length);
    const db = new BetterSqlite3(path);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
    return deliveries.length;
  }

  it('is read as far as it is intact, wherever it is cut off or damaged', { tags: 'slow' }, async () => {
    const { database, log } = await running();
    const path = join(newFolder(), 'test.db');
    const layOut = (bytes: Buffer) => {
      writeFileSync(path, database);
      writeFileSync(`${path}-wal`, bytes);
    };
    layOut(log);
    expect(await opened(path)).toBe(TRANSACTIONS);
    const place = fc.integer({ min: 32, max: log.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.boolean(), async (where, cut) => {
        const spoiled = Buffer.from(log);
        spoiled[where] = (spoiled[where] ?? 0) ^ 0xff;
        layOut(spoiled);
        if (cut) truncateSync(`${path}-wal`, where);
        expect(await opened(path)).toBeLessThanOrEqual(Math.ceil((where / log.length) * (TRANSACTIONS + 2)));
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
