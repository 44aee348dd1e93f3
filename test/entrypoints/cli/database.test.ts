import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimToServe } from '../../../src/adapters/sqlite/serving.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignOn, parsed, seed, tamper } from './support.ts';

const newFolder = temporaryFolders();
const newPath = () => join(newFolder(), 'countersign.db');
const NEWER = "INSERT INTO schema_migrations VALUES (99, '0099_later.sql', 'x', '2030-01-01T00:00:00.000Z')";
const OLDER = 'DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)';

async function made(): Promise<string> {
  const path = newPath();
  await seed(path, async () => {});
  return path;
}

describe('commands that use the database', () => {
  it('read and write while another process has it open and is in a transaction', async () => {
    const path = newPath();
    const storage = await openStorage(`sqlite:${path}`, { clock: systemClock });
    await storage.transaction((tx) => tx.runs.insert(runState('run_1')));
    const run = countersignOn(path);
    const cancelled = await storage.transaction(async (tx) => {
      await tx.runs.insert(runState('run_2'));
      const seen = parsed(await run('run', 'list', '--json')) as { id: string }[];
      expect(seen.map(({ id }) => id)).toEqual(['run_1']);
      return { begun: run('run', 'cancel', 'run_1') };
    });
    expect(await cancelled.begun).toMatchObject({ code: 0 });
    expect(await storage.read.jobs.countDue(new Date(Date.now() + 60_000))).toBe(1);
    await storage.close();
  });

  it('report that the database does not exist, and create nothing', async () => {
    const path = newPath();
    for (const command of [
      ['run', 'list'],
      ['delivery', 'replay', 'x'],
      ['db', 'backup', `${path}.copy`],
    ]) {
      expect(await countersignOn(path)(...command)).toEqual({
        code: 1,
        stdout: '',
        stderr: `There is no database at ${path}; start the app, or make one with countersign db migrate.\n`,
      });
    }
    expect(existsSync(path)).toBe(false);
  });

  it('say in a sentence when there is nothing to list', async () => {
    const run = countersignOn(await made());
    expect(await run('run', 'list')).toEqual({ code: 0, stdout: 'No runs yet.\n', stderr: '' });
    expect(parsed(await run('delivery', 'list', '--json'))).toEqual([]);
  });

  it('neither read nor migrate a database of an older version', async () => {
    const path = await made();
    tamper(path, OLDER);
    const before = readFileSync(path);
    for (const command of [
      ['run', 'list'],
      ['run', 'cancel', 'x'],
    ]) {
      const ended = await countersignOn(path)(...command);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(/lacks 1 migration of this version .*; run countersign db migrate/);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('neither read nor migrate a database of a newer version', async () => {
    const path = await made();
    tamper(path, NEWER);
    for (const command of [
      ['run', 'list'],
      ['run', 'cancel', 'x'],
      ['db', 'migrate'],
    ]) {
      const ended = await countersignOn(path)(...command, '--json');
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'migration.newer_database' } });
    }
  });

  it('report that a file is not a database', async () => {
    const path = newPath();
    writeFileSync(
      path,
      'this is a letter to my grandmother, and it is long enough to have a header\n'.repeat(20),
    );
    expect(await countersignOn(path)('run', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: `The file ${path} is not an SQLite database.\n`,
    });
  });
});

describe('db migrate', () => {
  it('creates the database, reports that, and the next time says that there is nothing to do', async () => {
    const path = newPath();
    const run = countersignOn(path);
    const first = await run('db', 'migrate', '--json');
    expect(parsed(first)).toEqual({
      database: path,
      from: 0,
      to: expect.any(Number),
      applied: expect.arrayContaining(['0001_initial.sql']),
    });
    expect((await run('db', 'migrate')).stdout).toMatch(/ is up to date already \(version \d+\)\.\n$/);
  });

  it('does not wait for a running app, but says which process to stop', async () => {
    const path = newPath();
    const claim = claimToServe(path, new Date());
    expect(await countersignOn(path)('db', 'migrate')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`The database is served by another process (pid ${process.pid} on `),
    });
    expect(existsSync(path)).toBe(false);
    if (claim.ok) claim.release();
  });
});

describe('db backup', () => {
  it('writes a copy that opens, whatever the version, and never over a file', async () => {
    const path = newPath();
    await seed(path, (storage) => storage.transaction((tx) => tx.runs.insert(runState('run_1'))));
    tamper(path, NEWER);
    const copy = `${path}.copy`;
    const run = countersignOn(path);
    expect(await run('db', 'backup', copy)).toEqual({
      code: 0,
      stdout: `Backed up ${path} to ${copy}.\n`,
      stderr: '',
    });
    expect(await run('db', 'backup', copy)).toEqual({
      code: 1,
      stdout: '',
      stderr: `The backup was not written: ${copy} is there already; name another file, or remove this one first.\n`,
    });
    tamper(copy, 'DELETE FROM schema_migrations WHERE version = 99');
    expect(parsed(await countersignOn(copy)('run', 'show', 'run_1', '--json'))).toMatchObject({
      id: 'run_1',
    });
  });
});
