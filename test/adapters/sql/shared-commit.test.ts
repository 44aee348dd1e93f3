import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/sqlite/open.ts';
import { SqliteStorage } from '../../../src/adapters/sqlite/storage.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';

const newFolder = temporaryFolders();
const clock = { now: () => at(0) };

/** A database where these statements fail once, one after another, as on a disk with errors. */
async function databaseFailingAt(...statements: string[]) {
  const path = join(newFolder(), 'test.db');
  await openSqlite(path, { clock }).close();
  const writer = new BetterSqlite3(path);
  const prepare = writer.prepare.bind(writer);
  Object.assign(writer, {
    prepare(sql: string) {
      const [next] = statements;
      if (sql !== next) return prepare(sql);
      statements.shift();
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

test('a transaction begins after one whose rollback failed, and writes nothing of it', async () => {
  const storage = await databaseFailingAt('commit', 'rollback');
  await expect(storage.transaction((tx) => tx.runs.insert(runState('run1')))).rejects.toThrow();
  await storage.transaction((tx) => tx.runs.insert(runState('run2')));
  const ids = (await storage.read.runs.list({})).map(({ id }) => id);
  expect(ids).toEqual(['run2']);
});

test('a transaction with a wrong reference makes those beside it fail only once', async () => {
  const storage = await openSqlite(join(newFolder(), 'test.db'), { clock });
  onTestFinished(() => storage.close());
  const write = (id: string, sessionId: string | null) =>
    storage.transaction(async (tx) => {
      const state = runState(id);
      const [step] = state.invocations;
      await tx.runs.insert({ ...state, invocations: step ? [{ ...step, sessionId }] : [] });
    });
  const writeAll = () =>
    Promise.allSettled([write('run1', null), write('run2', 'ses_missing'), write('run3', null)]);
  await writeAll();
  expect((await writeAll()).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
