import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { claimToServe } from '../../src/adapters/sqlite/serving.ts';
import { SqliteStorage } from '../../src/adapters/sqlite/storage.ts';
import { openBlobs } from '../../src/composition/blobs.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { createIntake, recordIn } from '../../src/entrypoints/webhook/delivery/intake.ts';
import { countAnswers } from '../../src/entrypoints/webhook/metrics-page.ts';
import { createHttpServer } from '../../src/entrypoints/webhook/server.ts';
import { listen, SECRET, sign } from '../entrypoints/webhook/support.ts';
import { temporaryFolders } from '../support/temp.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

const newFolder = temporaryFolders();

/** What a full or read-only disk does, done by SQLite itself: for machines where no disk can be mounted. */
describe('the webhook server with a database that cannot be written to', () => {
  let writer: BetterSqlite3.Database;
  let storage: SqliteStorage;
  let url: string;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const path = join(newFolder(), 'test.db');
    await (await openStorage(`sqlite:${path}`)).close();
    writer = new BetterSqlite3(path);
    storage = new SqliteStorage(path, writer, new BetterSqlite3(path, { readonly: true }), systemClock);
    const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog });
    const server = createHttpServer({
      secret: SECRET,
      intake: createIntake({ recorder: recordIn(storage, queue), clock: systemClock }),
      health: { database: () => storage.check() },
      answers: countAnswers(),
      log: silentLog,
    });
    ({ url } = await listen(server));
    close = async () => {
      server.closeAllConnections();
      server.close();
      await storage.close();
    };
  });
  afterEach(() => close());

  async function post(guid: string, size: number): Promise<number> {
    const body = JSON.stringify({ text: randomBytes(size / 2).toString('hex') });
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': guid,
      'x-hub-signature-256': sign(body),
    };
    return (await fetch(url + WEBHOOK_PATH, { method: 'POST', body, headers })).status;
  }
  const ready = async () => (await fetch(`${url}/readyz`)).status;
  const recorded = async () =>
    (await storage.read.deliveries.list({ limit: 9 })).map(({ guid }) => guid).reverse();

  it('refuses what does not fit, keeps what did, and accepts it when there is room', {
    tags: 'slow',
  }, async () => {
    expect(await post('before', 1_000)).toBe(202);
    const pages = Number(writer.pragma('page_count', { simple: true }));
    writer.pragma(`max_page_count = ${pages + 4}`);
    expect(await post('large', 400_000)).toBe(503);
    expect(await post('small', 1_000)).toBe(202);
    expect(await recorded()).toEqual(['before', 'small']);
    writer.pragma(`max_page_count = ${pages + 400}`);
    expect(await post('large', 400_000)).toBe(202);
    expect(await recorded()).toEqual(['before', 'small', 'large']);
    expect(writer.pragma('integrity_check', { simple: true })).toBe('ok');
  });

  it('refuses everything while it is read-only, and is not ready until it is writable again', async () => {
    expect(await post('before', 10)).toBe(202);
    writer.pragma('query_only = ON');
    expect(await post('refused', 10)).toBe(503);
    expect([await ready(), await ready()]).toEqual([503, 503]);
    await expect(storage.check()).rejects.toThrow(/cannot be written to: let the app write/);
    expect(await recorded()).toEqual(['before']);
    writer.pragma('query_only = OFF');
    expect(await ready()).toBe(200);
    expect(await post('refused', 10)).toBe(202);
  });
});

const probe = mountSmallDisk(1);
if (typeof probe !== 'string') probe.remove();
const canMount = typeof probe !== 'string';

describe('a disk that cannot be written to', () => {
  let disk: SmallDisk | undefined;
  let folder: string;
  let setWritable: (writable: boolean) => void;

  beforeEach(() => {
    const mounted = mountSmallDisk(4);
    disk = typeof mounted === 'string' ? undefined : mounted;
    folder = join(disk?.folder ?? newFolder(), 'data');
    mkdirSync(folder);
    setWritable = (writable) => {
      if (disk) execFileSync('mount', ['-o', `remount,${writable ? 'rw' : 'ro'}`, disk.folder]);
      else chmodSync(folder, writable ? 0o700 : 0o500);
    };
  });
  afterEach(() => disk?.remove());

  // Root may write into any folder, so only a separate disk can prevent it.
  it.skipIf(!canMount && process.getuid?.() === 0)(
    'prevents a start with a sentence that names what must be writable, until it is',
    async () => {
      const path = join(folder, 'test.db');
      setWritable(false);
      expect(() => claimToServe(path, new Date())).toThrow(
        expect.objectContaining({
          code: 'storage.unavailable',
          message: expect.stringContaining(`The lock file ${path}.lock cannot be made or locked`),
        }),
      );
      await expect(openStorage(`sqlite:${path}`)).rejects.toMatchObject({
        code: 'storage.unavailable',
        message: `The database ${path} cannot be opened: let the app read and write the file and its folder.`,
      });
      expect(() => openBlobs(`file:${join(folder, 'artifacts')}`)).toThrow(
        expect.objectContaining({
          code: 'storage.unavailable',
          message: expect.stringMatching(/for artifacts cannot be made .* must be able to write there/),
        }),
      );
      setWritable(true);
      await (await openStorage(`sqlite:${path}`)).close();
    },
  );

  it.skipIf(!canMount)('prevents storing a blob, with the storage’s message', async () => {
    const blobs = openBlobs(`file:${join(folder, 'artifacts')}`);
    disk?.fill();
    const putting = blobs.put('run/report.json', 'x'.repeat(100_000));
    await expect(putting).rejects.toMatchObject({
      code: 'storage.unavailable',
      message: expect.stringMatching(/cannot be written to: its disk is full\.$/),
    });
    expect(await blobs.has('run/report.json')).toBe(false);
    disk?.makeRoom();
    await expect(blobs.put('run/report.json', 'x'.repeat(100_000))).resolves.toMatchObject({ size: 100_000 });
  });
});
