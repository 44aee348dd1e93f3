// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COPIED_FROM } from '../../../src/adapters/postgres/unfinished-copy.ts';
import { readMigrations } from '../../../src/adapters/sql/migrate.ts';
import { openInbox } from '../../../src/adapters/sqlite/inbox.ts';
import { SQLITE_MIGRATIONS } from '../../../src/adapters/sqlite/open.ts';
import { claimToServe } from '../../../src/adapters/sqlite/serving.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { filledDatabases } from '../../migrations/filled-database.ts';
import { A_RECHECK, approvals, MERGE_ONLY, open, react, start } from '../../scenario/support.ts';
import { bareEnvironment } from '../../support/app-environment.ts';
import {
  databaseOf,
  OF_POSTGRES,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../../support/postgres.ts';
import { at } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { countersign, parsed, tamper } from './support.ts';

const newest = readMigrations(SQLITE_MIGRATIONS).length;
const CLI = resolve('src/cli.ts');

type Row = Record<string, unknown>;
/** The rows of each table in a fixed order, as JSON. */
type Content = Record<string, string[]>;

describe.skipIf(postgresPrograms === undefined)(`db copy${WITHOUT_POSTGRES}`, () => {
  const newFolder = temporaryFolders();
  const filledAt = filledDatabases({ now: () => at(0) }, newFolder);
  let server: PostgresServer;
  let path: string;
  let to: string;

  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(async () => {
    path = join(newFolder(), 'countersign.db');
    writeFileSync(path, await filledAt(newest));
    to = await server.newDatabase();
  });
  afterAll(() => server?.remove());

  const copy = (...options: string[]) => countersign(['db', 'copy', `sqlite:${path}`, to, ...options]);
  const query = (sql: string) => server.query(sql, databaseOf(to));

  function source(): Content {
    const db = new BetterSqlite3(path, { readonly: true });
    try {
      const tables = db
        .prepare<[], string>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
        )
        .pluck()
        .all();
      return contentOf(tables.map((table) => [table, db.prepare<[], Row>(`SELECT * FROM "${table}"`).all()]));
    } finally {
      db.close();
    }
  }

  async function target(): Promise<Content> {
    const tables = await query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
    const rows: [string, Row[]][] = [];
    for (const { name } of tables) rows.push([String(name), await query(`SELECT * FROM "${name}"`)]);
    return contentOf(rows.filter(([name]) => ![...OF_POSTGRES, 'copied_from'].includes(name)));
  }

  /** What a migration made and a copy turns off meanwhile. */
  const guards = async (database: string) => [
    await server.query(
      `SELECT conrelid::regclass::text AS "table", conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace AND conrelid <> coalesce(to_regclass('copied_from'), 0) ORDER BY 1, 2`,
      database,
    ),
    await server.query(
      'SELECT tgrelid::regclass::text AS "table", tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2',
      database,
    ),
  ];

  /** A process that is killed as soon as the server waits in a statement of it. */
  async function killedAt(condition: string): Promise<void> {
    await query(`
      CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$;
      CREATE TRIGGER waits BEFORE UPDATE ON copied_from FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION wait_here()`);
    const child: ChildProcess = spawn(process.execPath, [CLI, 'db', 'copy', `sqlite:${path}`, to], {
      stdio: 'ignore',
      env: bareEnvironment(),
    });
    const gone = once(child, 'exit');
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = '${databaseOf(to)}'`;
    await until('the copy to wait', async () => (await query(waiting)).length > 0 || undefined);
    child.kill('SIGKILL');
    await gone;
    // The server would only notice that its client is gone when it answers.
    await query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS waiting`);
    await query('DROP TRIGGER waits ON copied_from; DROP FUNCTION wait_here');
    await query("UPDATE serving SET until = '-infinity'");
  }

  test('writes every row of every table, and the guards of its tables are those of any database', async () => {
    const copied = await copy('--json');
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    const { schema_migrations: _, ...wanted } = source();
    const { schema_migrations: own, ...found } = await target();
    expect(found).toEqual(wanted);
    expect(own).toHaveLength(newest - 42);
    expect(Object.values(wanted).filter((rows) => rows.length === 0)).toEqual([]);
    expect(parsed(copied)).toEqual({
      from: path,
      to: expect.stringMatching(/^postgres:\/\/localhost\/test_\d+$/),
      tables: Object.keys(wanted).length,
      rows: Object.values(wanted).flat().length,
      before: 0,
    });
    expect(await guards(databaseOf(to))).toEqual(await guards(databaseOf(await server.newMigrated())));
  });

  test('leaves no number to be given out twice', async () => {
    await copy();
    const storage = await openStorage(to);
    const before = (await query('SELECT max(id) AS id FROM deliveries'))[0]?.id;
    await storage.transaction((tx) =>
      tx.deliveries.record([
        {
          guid: 'after-the-copy',
          event: 'ping',
          action: null,
          installationId: null,
          receivedAt: at(0),
          body: Buffer.from('{}'),
          queueKey: null,
        },
      ]),
    );
    await storage.close();
    const [row] = await query("SELECT id FROM deliveries WHERE guid = 'after-the-copy'");
    expect(Number(row?.id)).toBeGreaterThan(Number(before));
  });

  test('moves an app: a question that was open before is countersigned and merged after', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { number } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number)).toHaveLength(1);
    await harness.down();
    path = harness.config.databaseUrl.slice('sqlite:'.length);
    expect(await copy()).toMatchObject({ code: 0 });
    harness.config.databaseUrl = to;
    await harness.up();
    await react(harness, number, 'mia');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
  });

  test.each([
    ['before its first rows are committed', "OLD.rows_json = '{}'", () => 0],
    ['in the middle', `NEW.rows_json LIKE '%"jobs"%'`, () => expect.any(Number)],
    ['when everything is copied and compared', 'NEW.finished_at IS NOT NULL', (rows: number) => rows],
  ])('goes on when it was killed %s, and nothing serves the part until then', async (_, condition, kept) => {
    to = await server.newMigrated();
    await query(COPIED_FROM);
    await killedAt(condition);
    const refused = await countersign(['run', 'list', '--database', to]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('is a copy that is not finished. Run countersign db copy as before');
    const { rows, before } = parsed(await copy('--json')) as { rows: number; before: number };
    expect(before).toEqual(kept(rows));
    const { schema_migrations: _own, ...found } = await target();
    const { schema_migrations: _other, ...wanted } = source();
    expect(found).toEqual(wanted);
    expect(await guards(databaseOf(to))).toEqual(await guards(databaseOf(await server.newMigrated())));
  });

  test('says that a finished copy is finished, and copies nothing', async () => {
    await copy();
    await query("UPDATE cursors SET position_json = '7'");
    const again = await copy();
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toMatch(/is a finished copy of .* already, since 2.*Z\. Nothing was copied\.\n$/);
    expect(parsed(await copy('--json'))).toMatchObject({ finished_at: expect.stringMatching(/Z$/) });
    expect(await query("SELECT 1 FROM cursors WHERE position_json <> '7'")).toEqual([]);
  });

  test('takes along what the intake had recorded and the engine had not taken', async () => {
    const inbox = openInbox(`${path}-inbox`);
    inbox.record([
      {
        guid: 'in-the-inbox',
        event: 'ping',
        action: null,
        installationId: null,
        receivedAt: at(0),
        body: Buffer.from('{"zen":"x"}'),
        queueKey: null,
      },
    ]);
    inbox.close();
    expect(await copy()).toMatchObject({ code: 0, stderr: '' });
    const storage = await openStorage(to);
    const found = await storage.read.deliveries.byGuid('in-the-inbox');
    expect(Buffer.from((found && (await storage.read.deliveries.get(found.id)))?.body ?? []).toString()).toBe(
      '{"zen":"x"}',
    );
    await storage.close();
  });

  describe('is refused', () => {
    const refusal = async () => {
      const { code, stdout, stderr } = await copy();
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      return stderr;
    };

    test('while a process serves the database to copy', async () => {
      const claim = claimToServe(path, new Date());
      expect(await refusal()).toContain(
        `The database ${path} is served by another process (pid ${process.pid} on`,
      );
      if (claim.ok) claim.release();
    });

    test('while a process serves the other database', async () => {
      to = await server.newMigrated();
      const holder = JSON.stringify({ pid: 4711, host: 'web-1', since: at(0).toISOString() });
      await query(`UPDATE serving SET holder = '${holder}', until = now() + interval '1 hour'`);
      expect(await refusal()).toMatch(
        /^The database postgres:.* is served by another process \(pid 4711 on web-1, .*Nothing was copied\.\n$/,
      );
      expect(await query("SELECT to_regclass('copied_from') AS made")).toEqual([{ made: null }]);
    });

    test('for a target with rows of its own', async () => {
      to = await server.newMigrated();
      await query("INSERT INTO cursors VALUES ('own', '1', '2026-01-01T00:00:00.000Z')");
      expect(await refusal()).toContain('has rows in cursors that are not of this copy. Name an empty one.');
      expect((await query('SELECT count(*) AS rows FROM cursors'))[0]?.rows).toBe('1');
    });

    test('for a target that has the copy of another database', async () => {
      await copy();
      tamper(path, "UPDATE schema_migrations SET applied_at = '2020-01-01T00:00:00.000Z' WHERE version = 1");
      expect(await refusal()).toContain('holds the copy of another database.');
    });

    test('for a database to copy of an older version, and for a target of one', async () => {
      const last =
        'DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)';
      to = await server.newMigrated();
      await query(last);
      expect(await refusal()).toMatch(/^The database postgres:.* lacks 1 migration/);
      tamper(path, last);
      expect(await refusal()).toMatch(/^The database \/.* lacks 1 migration/);
    });

    test('in the other direction', async () => {
      const reversed = await countersign(['db', 'copy', to, `sqlite:${path}`]);
      expect(reversed).toMatchObject({ code: 1 });
      expect(reversed.stderr).toMatch(/^A copy goes from an SQLite file to a database of PostgreSQL/);
    });

    test('to finish, if the database has changed since the copy began', async () => {
      await copy();
      await query('UPDATE copied_from SET finished_at = NULL');
      // What the beginning of the copy had turned off.
      await query(
        `DO $$ DECLARE one RECORD; BEGIN
           FOR one IN SELECT conrelid::regclass AS t, conname AS name FROM pg_constraint WHERE contype = 'f'
             LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.t, one.name); END LOOP;
         END $$`,
      );
      tamper(path, "UPDATE cursors SET updated_at = '2020-01-01T00:00:00.000Z'");
      expect(await refusal()).toContain(
        'The copy is not the same in cursors: the database that is copied has',
      );
      expect((await countersign(['run', 'list', '--database', to])).stderr).toContain('is not finished');
    });
  });
});

function contentOf(tables: readonly (readonly [string, readonly Row[]])[]): Content {
  return Object.fromEntries(
    tables.map(([table, rows]) => [
      table,
      rows.map((row) => JSON.stringify(Object.entries(row).map(shown).sort())).sort(),
    ]),
  );
}

/** This driver gives large integers as texts. */
function shown([column, value]: [string, unknown]): string {
  return `${column}=${Buffer.isBuffer(value) ? value.toString('hex') : String(value)}`;
}
