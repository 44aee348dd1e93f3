import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { readMigrations } from '../../src/adapters/sql/migrate.ts';
import { openSqlite, SQLITE_MIGRATIONS } from '../../src/adapters/sqlite/open.ts';
import { at, delivery, run, runState } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';

const folder = temporaryFolders();
const clock = { now: () => at(0) };

describe('migrations of SQLite', () => {
  let path: string;
  let migrations: string;
  let next: string;

  beforeEach(() => {
    path = join(folder(), 'test.db');
    migrations = join(folder(), 'migrations');
    cpSync(SQLITE_MIGRATIONS, migrations, { recursive: true });
    next = String(readMigrations(migrations).length + 1).padStart(4, '0');
  });

  const open = () => openSqlite(path, { clock, migrations });
  const add = (sql: string) => writeFileSync(join(migrations, `${next}_next.sql`), sql);
  const query = (sql: string) => {
    const db = new BetterSqlite3(path);
    const rows = db.prepare(sql).all();
    db.close();
    return rows;
  };
  const fill = async () => {
    const storage = open();
    await storage.transaction(async (tx) => {
      await tx.deliveries.record([delivery('g1')]);
      await tx.runs.insert(runState('run1'));
    });
    await storage.close();
  };

  it('are recorded with their hash and time', async () => {
    await open().close();
    expect(query('SELECT version, name, length(sha256) AS hash, applied_at FROM schema_migrations')).toEqual(
      readMigrations(migrations).map(({ version, name }) => ({
        version,
        name,
        hash: 64,
        applied_at: at(0).toISOString(),
      })),
    );
  });

  it('are applied once', async () => {
    await fill();
    const before = query('SELECT * FROM schema_migrations');
    const storage = open();
    expect(await storage.read.runs.load('run1')).toEqual(runState('run1'));
    await storage.close();
    expect(query('SELECT * FROM schema_migrations')).toEqual(before);
  });

  it('do not wait for somebody who writes if none is pending', async () => {
    await open().close();
    const other = new BetterSqlite3(path);
    other.exec('BEGIN IMMEDIATE');
    const storage = open();
    other.exec('ROLLBACK');
    other.close();
    expect(await storage.read.runs.list({})).toEqual([]);
    await storage.close();
  });

  it('keep the content of tables, even when a table that others refer to is rebuilt', async () => {
    await fill();
    add(`CREATE TABLE chain_runs_new AS SELECT * FROM chain_runs;
      DROP TABLE chain_runs;
      CREATE TABLE chain_runs (${columnsOf('chain_runs')}, note TEXT NOT NULL DEFAULT 'old') STRICT;
      INSERT INTO chain_runs SELECT *, 'moved' FROM chain_runs_new;
      DROP TABLE chain_runs_new;`);
    const storage = open();
    const state = await storage.read.runs.load('run1');
    await storage.close();
    expect(state).toEqual({ run: run('run1'), invocations: runState('run1').invocations });
    expect(query('SELECT note FROM chain_runs')).toEqual([{ note: 'moved' }]);
  });

  it('that fail change nothing', async () => {
    await fill();
    add('CREATE TABLE extra (id INTEGER); DELETE FROM jobs; INSERT INTO nowhere VALUES (1);');
    expect(open).toThrow(
      expect.objectContaining({
        code: 'migration.failed',
        message: expect.stringMatching(/_next\.sql failed and left the database as it was: .*nowhere/),
      }),
    );
    expect(query("SELECT name FROM sqlite_schema WHERE name = 'extra'")).toEqual([]);
  });

  it('are all undone when the last of them fails, and the earlier version still works', async () => {
    await fill();
    const before = readFileSync(path);
    add('CREATE TABLE extra (id INTEGER); INSERT INTO extra SELECT rowid FROM chain_runs;');
    const after = String(Number(next) + 1).padStart(4, '0');
    writeFileSync(join(migrations, `${after}_bad.sql`), 'DROP TABLE jobs; INSERT INTO nowhere VALUES (1);');
    expect(open).toThrow(expect.objectContaining({ message: expect.stringContaining('_bad.sql failed') }));
    expect(readFileSync(path).equals(before)).toBe(true);
    const storage = openSqlite(path, { clock });
    await storage.transaction((tx) => tx.runs.insert(runState('run2')));
    expect((await storage.read.runs.list({})).map(({ id }) => id)).toEqual(['run2', 'run1']);
    await storage.close();
  });

  it('that leave rows with broken references are rolled back', async () => {
    await fill();
    add('DELETE FROM chain_runs;');
    expect(open).toThrow(expect.objectContaining({ code: 'migration.failed' }));
    expect(query('SELECT id FROM chain_runs')).toEqual([{ id: 'run1' }]);
  });

  it('must not change once they were applied', async () => {
    await fill();
    const [first] = readMigrations(migrations);
    writeFileSync(join(migrations, first?.name ?? ''), `${first?.sql}\n-- a harmless remark\n`);
    expect(open).toThrow(
      expect.objectContaining({
        code: 'migration.changed_file',
        message: expect.stringContaining('0001_initial.sql'),
      }),
    );
  });

  it('of a newer version keep an older app from changing the database', async () => {
    add('CREATE TABLE extra (id INTEGER);');
    await fill();
    expect(() => openSqlite(path, { clock })).toThrow(
      expect.objectContaining({
        code: 'migration.newer_database',
        message: expect.stringContaining('newer version of Countersign'),
      }),
    );
  });

  it.each([['0003_gap.sql'], ['0001_twice.sql'], ['2_short.sql'], ['0002-dash.sql']])(
    'are numbered without gaps: %s is refused',
    (name) => {
      const made = join(folder(), 'numbers');
      mkdirSync(made);
      writeFileSync(join(made, '0001_initial.sql'), '');
      writeFileSync(join(made, name), '');
      expect(() => readMigrations(made)).toThrow(expect.objectContaining({ code: 'migration.misnumbered' }));
    },
  );

  /** The column definitions of a table, as the database has them. */
  function columnsOf(table: string): string {
    const [row] = query(`SELECT sql FROM sqlite_schema WHERE name = '${table}'`) as { sql: string }[];
    return /\(([\s\S]*)\) STRICT$/.exec(row?.sql ?? '')?.[1] ?? '';
  }
});

describe('the schema', () => {
  it('has an index for every foreign key, so that removing a row never reads a whole table', async () => {
    const path = join(folder(), 'test.db');
    await openSqlite(path, { clock }).close();
    const db = new BetterSqlite3(path);
    const missing = db
      .prepare(
        `SELECT t.name || '.' || f."from" AS "column" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
         WHERE t.type = 'table' AND NOT EXISTS (
           SELECT 1 FROM pragma_table_info(t.name) c WHERE c.pk = 1 AND c.name = f."from"
           UNION SELECT 1 FROM pragma_index_list(t.name) i, pragma_index_info(i.name) c
             WHERE c.seqno = 0 AND c.name = f."from")`,
      )
      .all();
    db.close();
    expect(missing).toEqual([]);
  });
});
