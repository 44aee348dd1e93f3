// @module-tag slow
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeMigratedDatabase } from '../support/migrated-database.ts';
import {
  databaseOf,
  OF_POSTGRES,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  WITHOUT_POSTGRES,
} from '../support/postgres.ts';
import { temporaryFolders } from '../support/temp.ts';

/** Tables with the names of their columns, each with what it refuses: `name NOT NULL`. */
type Tables = Record<string, string[]>;

describe.skipIf(postgresPrograms === undefined)(`the schemas of both databases${WITHOUT_POSTGRES}`, () => {
  const folderOf = temporaryFolders();
  let server: PostgresServer;
  let postgres: string;

  beforeAll(async () => {
    server = await startPostgres();
    postgres = databaseOf(await server.newMigrated());
  }, 120_000);
  afterAll(() => server.remove());

  async function sqlite<T>(read: (database: BetterSqlite3.Database) => T): Promise<T> {
    const path = join(folderOf(), 'empty.db');
    await writeMigratedDatabase(path);
    const database = new BetterSqlite3(path, { readonly: true });
    try {
      return read(database);
    } finally {
      database.close();
    }
  }

  const tablesOf = (database: BetterSqlite3.Database) =>
    database
      .prepare<[], string>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .pluck()
      .all();

  test('have the same tables and columns, which refuse NULL alike', async () => {
    const inSqlite = await sqlite(
      (database): Tables =>
        Object.fromEntries(
          tablesOf(database).map((table) => [
            table,
            database
              .prepare<[], { name: string; notnull: number; pk: number }>(`PRAGMA table_info(${table})`)
              .all()
              .map(({ name, notnull, pk }) => (notnull === 1 || pk > 0 ? `${name} NOT NULL` : name))
              .toSorted(),
          ]),
        ),
    );
    const rows = await server.query(
      `SELECT table_name, column_name, is_nullable FROM information_schema.columns
         WHERE table_schema = 'public'`,
      postgres,
    );
    const byTable = Object.groupBy(rows, ({ table_name }) => String(table_name));
    const inPostgres: Tables = Object.fromEntries(
      Object.entries(byTable)
        .filter(([table]) => !OF_POSTGRES.includes(table))
        .map(([table, columns = []]) => [
          table,
          columns
            .map(({ column_name, is_nullable }) =>
              is_nullable === 'NO' ? `${column_name} NOT NULL` : String(column_name),
            )
            .toSorted(),
        ]),
    );
    expect(inPostgres).toEqual(inSqlite);
  });

  test('find rows by the same primary keys and unique indexes', async () => {
    const inSqlite = await sqlite((database) =>
      tablesOf(database).flatMap((table) =>
        database
          .prepare<[], { name: string; unique: number }>(`PRAGMA index_list(${table})`)
          .all()
          .filter(({ unique }) => unique === 1)
          .map(({ name }) => {
            const columns = database
              .prepare<[], string | null>(`SELECT name FROM pragma_index_info('${name}')`)
              .pluck()
              .all();
            return `${table} (${columns.filter((column) => column !== null).join(', ')})`;
          }),
      ),
    );
    // A primary key of one integer is no index in SQLite: https://sqlite.org/lang_createtable.html#rowid
    const rows = await server.query(
      `SELECT t.relname AS "table", i.indisprimary AS "primary",
          (SELECT string_agg(a.attname, ', ' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY AS k(attnum, n)
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum) AS columns,
          (SELECT max(a.atttypid::regtype::text) FROM pg_attribute a
             WHERE a.attrelid = t.oid AND a.attnum = i.indkey[0] AND i.indnkeyatts = 1) AS only
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace
        WHERE s.nspname = 'public' AND i.indisunique`,
      postgres,
    );
    const inPostgres = rows
      .filter(
        ({ table, primary, only }) =>
          !(primary === true && only === 'bigint') && !OF_POSTGRES.includes(String(table)),
      )
      // SQLite compares names of repositories without case by the column's collation; here, an index on an expression does.
      .filter(({ columns }) => columns !== null)
      .map(({ table, columns }) => `${table} (${columns})`);
    expect(inPostgres.toSorted()).toEqual(inSqlite.toSorted());
  });
});
