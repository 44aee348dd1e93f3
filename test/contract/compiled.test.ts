import BetterSqlite3 from 'better-sqlite3';
import { Kysely } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { compiledOnce } from '../../src/adapters/sql/compiled.ts';
import type { Database } from '../../src/adapters/sql/schema.ts';
import { sqliteDialect } from '../../src/adapters/sqlite/dialect.ts';

const open: Kysely<Database>[] = [];

afterEach(async () => {
  for (const db of open.splice(0)) await db.destroy();
});

function database(log: (text: string) => void = () => undefined): Kysely<Database> {
  const file = new BetterSqlite3(':memory:');
  file.exec('CREATE TABLE cursors (name TEXT PRIMARY KEY, position_json TEXT, updated_at TEXT)');
  const insert = file.prepare('INSERT INTO cursors VALUES (?, ?, ?)');
  for (const name of ['a', 'b', 'c']) insert.run(name, `"${name}"`, '2026-01-01');
  const db = new Kysely<Database>({
    dialect: sqliteDialect(file, (error) => error),
    log: ({ query }) => log(query.sql),
  });
  open.push(db);
  return db;
}

test('each call of a compiled statement has its own parameters, in any order, and those written in it', async () => {
  let built = 0;
  const find = compiledOnce((db, { after, most }: { after: string; most: number }) => {
    built++;
    return db
      .selectFrom('cursors')
      .select('name')
      .where('updated_at', '=', '2026-01-01')
      .where('name', '>', after)
      .orderBy('name')
      .limit(most);
  });
  const db = database();
  const names = async (params: { after: string; most: number }) =>
    (await find(db, params)).rows.map(({ name }) => name);
  expect(await names({ most: 5, after: 'a' })).toEqual(['b', 'c']);
  expect(await names({ after: '', most: 1 })).toEqual(['a']);
  expect(
    await db.transaction().execute(async (tx) => (await find(tx, { after: 'b', most: 5 })).rows),
  ).toEqual([{ name: 'c' }]);
  expect(built).toBe(1);
});

test('a statement that reads its parameters while it is compiled is refused, because it would keep them for every later call', async () => {
  const find = compiledOnce((db, { name }: { name: string }) =>
    db.selectFrom('cursors').select('name').where('name', '=', `${name}`),
  );
  await expect(async () => find(database(), { name: 'a' })).rejects.toThrow('changes its parameters');
});

test('a compiled statement hides its values from SQLite, which would prepare it again for each of them', async () => {
  const find = compiledOnce((db, { name, most }: { name: string; most: number }) =>
    db.selectFrom('cursors').select('name').where('name', '=', name).orderBy('updated_at').limit(most),
  );
  const texts: string[] = [];
  await find(
    database((text) => texts.push(text)),
    { name: 'a', most: 1 },
  );
  expect(texts).toEqual([
    'select "name" from "cursors" where "name" = +? order by "updated_at" limit (? + 0)',
  ]);
});
