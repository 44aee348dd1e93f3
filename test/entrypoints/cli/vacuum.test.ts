import { statSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { claimToServe } from '../../../src/adapters/sqlite/serving.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignOn } from './support.ts';

const newFolder = temporaryFolders();

/** A database from before free pages could be returned, most of which is free. */
async function olderDatabase(): Promise<string> {
  const path = join(newFolder(), 'old.db');
  const db = new BetterSqlite3(path);
  db.exec('CREATE TABLE filler (bytes BLOB)');
  await (await openStorage(`sqlite:${path}`)).close();
  for (let n = 0; n < 8; n++) db.prepare('INSERT INTO filler VALUES (zeroblob(1048576))').run();
  db.exec('DELETE FROM filler');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return path;
}

function pragma(path: string, name: string): unknown {
  const db = new BetterSqlite3(path, { readonly: true });
  const value = db.pragma(name, { simple: true });
  db.close();
  return value;
}

test('vacuum shrinks an older database, which from then on returns its free pages by itself', async () => {
  const path = await olderDatabase();
  const before = statSync(path).size;
  expect(pragma(path, 'auto_vacuum')).toBe(0);
  const { code, stdout } = await countersignOn(path)('db', 'vacuum', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ database: path, before, after: statSync(path).size });
  expect(statSync(path).size).toBeLessThan(before / 4);
  expect(pragma(path, 'auto_vacuum')).toBe(2);
  expect(pragma(path, 'integrity_check')).toBe('ok');
});

test('vacuum does not change a database that an app serves', async () => {
  const path = await olderDatabase();
  const claim = claimToServe(path, systemClock.now());
  const { code } = await countersignOn(path)('db', 'vacuum');
  if (claim.ok) claim.release();
  expect(code).toBe(1);
  expect(pragma(path, 'auto_vacuum')).toBe(0);
});

test('free pages of a new database are returned a few at a time, down to what the next days need', {
  tags: 'slow',
}, async () => {
  const path = join(newFolder(), 'new.db');
  const storage = await openStorage(`sqlite:${path}`);
  const db = new BetterSqlite3(path);
  db.exec('CREATE TABLE filler (bytes BLOB)');
  for (let n = 0; n < 8; n++) db.prepare('INSERT INTO filler VALUES (zeroblob(1048576))').run();
  db.exec('DELETE FROM filler');
  db.close();
  const free = Number(pragma(path, 'freelist_count'));
  expect(await storage.giveBack(100)).toBe(true);
  expect(pragma(path, 'freelist_count')).toBe(free - 100);
  expect(await storage.giveBack(100_000)).toBe(false);
  expect(pragma(path, 'freelist_count')).toBe(1_024);
  await storage.close();
});
