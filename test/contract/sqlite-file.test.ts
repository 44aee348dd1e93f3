import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { at, delivery, runState } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';

const folder = temporaryFolders();
const opened: Storage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
});

async function open(path: string): Promise<Storage> {
  const storage = await openStorage(`sqlite:${path}`);
  opened.push(storage);
  return storage;
}

describe('DATABASE_URL', () => {
  it.each([
    ['mysql://db/x', 'storage.bad_url', /sqlite:path/],
    ['sqlite:', 'storage.bad_url', /sqlite:path/],
    ['sqlite://host/x.db', 'storage.bad_url', /sqlite:path/],
    ['', 'storage.bad_url', /sqlite:path/],
    ['postgres://user:secret@db/', 'storage.bad_url', /^DATABASE_URL must be postgres:(?!.*secret)/],
  ])('"%s" is refused with a sentence that says what is allowed', async (url, code, message) => {
    const failure = await openStorage(url).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('sqlite:path creates the file and its folders, for this user only', async () => {
    const parent = join(folder(), 'deep');
    await open(join(parent, 'er', 'test.db'));
    expect(existsSync(join(parent, 'er', 'test.db'))).toBe(true);
    expect(statSync(parent).mode & 0o777).toBe(0o700);
  });

  it('sqlite:///path is an absolute path', async () => {
    const path = join(folder(), 'test.db');
    opened.push(await openStorage(`sqlite://${path}`));
    expect(existsSync(path)).toBe(true);
  });

  it('sqlite::memory: is another database each time', async () => {
    const [one, two] = [await openStorage('sqlite::memory:'), await openStorage('sqlite::memory:')];
    opened.push(one, two);
    await one.transaction((tx) => tx.runs.insert(runState('run1')));
    expect(await one.read.runs.load('run1')).toBeDefined();
    expect(await two.read.runs.load('run1')).toBeUndefined();
  });
});

describe('an SQLite file', () => {
  it.runIf(process.platform === 'linux')(
    'is written to without files elsewhere, however much at once',
    async () => {
      const storage = await open(join(folder(), 'test.db'));
      // Other tests of this process may have left some open.
      const before = new Set(openPaths());
      const elsewhere = new Set<string>();
      for (let round = 0; round < 4; round++) {
        await storage.transaction(async (tx) => {
          const jobs = Array.from({ length: 256 }, (_, n) => ({
            kind: 'delivery' as const,
            key: `${n}`,
            payload: '0',
            runAt: at(0),
          }));
          await tx.jobs.insert(...jobs);
          for (const path of openPaths()) {
            if (path.endsWith('(deleted)') && !before.has(path)) elsewhere.add(path);
          }
        });
      }
      expect([...elsewhere]).toEqual([]);
    },
  );

  it('keeps what was committed', async () => {
    const path = join(folder(), 'test.db');
    const first = await open(path);
    await first.transaction((tx) => tx.runs.insert(runState('run1')));
    await first.close();
    expect(await (await open(path)).read.runs.load('run1')).toEqual(runState('run1'));
  });

  it('that is something else is refused with a sentence', async () => {
    const path = join(folder(), 'test.db');
    writeFileSync(path, 'This is a letter, and not a short one either.'.repeat(40));
    await expect(open(path)).rejects.toMatchObject({
      code: 'storage.unavailable',
      message: `The file ${path} is not an SQLite database.`,
    });
  });

  it('can be written by two processes at once without losing or refusing anything', {
    tags: 'slow',
  }, async () => {
    const path = join(folder(), 'test.db');
    const storage = await open(path);
    const writer = spawn(
      process.execPath,
      [resolve(import.meta.dirname, 'counting-writer.ts'), `sqlite:${path}`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const exited = once(writer, 'exit');
    await once(writer.stdout, 'data');
    for (let n = 0; n < 200; n++) {
      await storage.transaction(async (tx) => {
        const row = await tx.pullRequests.get(1, 1);
        if (!row) throw new Error('the row is not there');
        await tx.pullRequests.upsert({ ...row, installationId: row.installationId + 1 });
      });
    }
    expect(await exited).toEqual([0, null]);
    expect((await storage.read.pullRequests.get(1, 1))?.installationId).toBe(400);
  });

  it.each([
    ['chain_runs', 'run1', "UPDATE chain_runs SET event_json = '{}'"],
    ['chain_runs', 'run1', "UPDATE chain_runs SET created_at = 'yesterday'"],
    [
      'invocations',
      'run1-inv0',
      `UPDATE invocations SET outcome_json = '{"passed":true}' WHERE step_index = 0`,
    ],
    ['invocations', 'run1-inv1', `UPDATE invocations SET reason_json = '7' WHERE step_index = 1`],
  ])('with a damaged row of %s names the row %s', async (table, id, damage) => {
    const path = join(folder(), 'test.db');
    const storage = await open(path);
    await storage.transaction((tx) => tx.runs.insert(runState('run1')));
    const db = new BetterSqlite3(path);
    db.exec(damage);
    db.close();
    await expect(storage.read.runs.load('run1')).rejects.toMatchObject({
      code: 'storage.unreadable_row',
      message: expect.stringContaining(`The row ${id} of the table ${table} cannot be read`),
    });
  });

  it.each([
    "UPDATE chain_runs SET status = 'sleeping'",
    "UPDATE chain_runs SET definition_json = '{'",
    "UPDATE chain_runs SET reason_json = 'no'",
    "UPDATE invocations SET run_id = 'run9'",
    "INSERT INTO invocations SELECT 'other', run_id, 0, 'x', status, null, 0, null, null, null, null, null, null, null, null FROM invocations",
    "UPDATE chain_runs SET paused = 'yes'",
  ])('itself refuses: %s', async (statement) => {
    const path = join(folder(), 'test.db');
    const storage = await open(path);
    await storage.transaction((tx) => tx.runs.insert(runState('run1')));
    const db = new BetterSqlite3(path);
    expect(() => db.exec(statement)).toThrow(/constraint|cannot store/i);
    db.close();
  });
});

describe('a backup', () => {
  it('is a complete database, made while others write', { tags: 'slow' }, async () => {
    const path = join(folder(), 'test.db');
    const copy = join(folder(), 'copy.db');
    const storage = await open(path);
    const body = new Uint8Array(24_000).fill(7);
    const record = (n: number) =>
      storage.transaction((tx) =>
        tx.deliveries.record(Array.from({ length: 20 }, (_, i) => delivery(`g${n}-${i}`, { body }))),
      );
    for (let n = 0; n < 20; n++) await record(n);
    let done = false;
    const backup = storage.backup(copy).finally(() => {
      done = true;
    });
    // Each of these would restart a copy that is not bound to one moment.
    let writes = 0;
    while (!done && writes < 200) {
      await record(20 + writes++);
      await new Promise((next) => setImmediate(next));
    }
    await backup;
    expect(writes).toBeLessThan(200);
    const restored = await open(copy);
    const { received } = await restored.read.deliveries.countByStatus();
    expect(received % 20).toBe(0);
    expect(received).toBeGreaterThanOrEqual(400);
    expect((await restored.read.deliveries.byGuid('g0-0'))?.body).toHaveLength(24_000);
  });

  it('contains nothing of a transaction that is under way', async () => {
    const copy = join(folder(), 'copy.db');
    const storage = await open(join(folder(), 'test.db'));
    await storage.transaction(async (tx) => {
      await tx.runs.insert(runState('run1'));
      await storage.backup(copy);
    });
    expect(await (await open(copy)).read.runs.load('run1')).toBeUndefined();
  });

  it('never overwrites a file', async () => {
    const copy = join(folder(), 'copy.db');
    writeFileSync(copy, 'precious');
    const storage = await open(join(folder(), 'test.db'));
    await expect(storage.backup(copy)).rejects.toMatchObject({
      code: 'storage.backup_refused',
      message: expect.stringContaining('is there already'),
    });
    expect(readFileSync(copy, 'utf8')).toBe('precious');
  });

  it('into a folder that does not exist is refused', async () => {
    const storage = await open(join(folder(), 'test.db'));
    const failing = storage.backup(join(folder(), 'nowhere', 'copy.db'));
    await expect(failing).rejects.toMatchObject({ code: 'storage.backup_refused' });
  });
});

/** Of this process; SQLite's temporary files have no name any more. */
function openPaths(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // It was the one by which the folder is read.
      return [];
    }
  });
}
