import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/sqlite/open.ts';
import { SqliteStorage } from '../../../src/adapters/sqlite/storage.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';

const newFolder = temporaryFolders();
const clock = { now: () => at(0) };

/** A database where one statement fails, as on a disk with errors. */
async function databaseFailingAt(statement: string) {
  const path = join(newFolder(), 'test.db');
  await openSqlite(path, { clock }).close();
  const writer = new BetterSqlite3(path);
  const prepare = writer.prepare.bind(writer);
  let fails = true;
  Object.assign(writer, {
    prepare(sql: string) {
      if (sql !== statement || !fails) return prepare(sql);
      fails = false;
      throw new BetterSqlite3.SqliteError('disk I/O error', 'SQLITE_IOERR');
    },
  });
  const storage = new SqliteStorage(path, writer, new BetterSqlite3(path, { readonly: true }), clock);
  onTestFinished(() => storage.close());
  return storage;
}

test.each(['savepoint one', 'release one', 'rollback to one', 'commit'])(
  'every transaction of a commit is answered if the database fails at "%s"',
  async (statement) => {
    const storage = await databaseFailingAt(statement);
    const committed: boolean[] = [];
    let begun = 0;
    const write = (id: string, fails = false) =>
      storage.transaction(async (tx) => {
        begun += 1;
        tx.afterwards((done) => void committed.push(done));
        await tx.runs.insert(runState(id));
        if (fails) throw new Error('no');
      });
    const ended = await Promise.allSettled([write('run1'), write('run2'), write('run3', true)]);
    const isThere = await Promise.all(
      ['run1', 'run2', 'run3'].map(async (id) => (await storage.read.runs.get(id)) !== undefined),
    );
    expect(ended.map(({ status }) => status === 'fulfilled')).toEqual(isThere);
    expect(committed).toHaveLength(begun);
    expect(committed.filter(Boolean)).toEqual(isThere.filter(Boolean));
    await storage.transaction((tx) => tx.runs.insert(runState('run4')));
  },
);
