import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { postgresForScenarios } from '../support/postgres.ts';
import { databaseIn } from './app-process.ts';

type Row = Record<string, unknown>;

/** What the app of a story works on. It outlives each of the app's lives. */
export interface StoryDatabase {
  kind: DatabaseKind;
  /** For `DATABASE_URL`. */
  url: string;
  /** Reads, in SQL that both databases understand, but for `instr`. */
  rows(sql: string): Promise<Row[]>;
  remove(): Promise<void>;
}

export type DatabaseKind = 'sqlite' | 'postgres';

/** `COUNTERSIGN_TEST_DATABASE=postgres` plays all stories on PostgreSQL, as it does with scenarios. */
export const DATABASE_KIND: DatabaseKind =
  process.env.COUNTERSIGN_TEST_DATABASE === 'postgres' ? 'postgres' : 'sqlite';

export function storyDatabase(kind: DatabaseKind, folder: string): Promise<StoryDatabase> {
  return kind === 'sqlite' ? Promise.resolve(inFile(databaseIn(folder))) : onServer();
}

function inFile(path: string): StoryDatabase {
  return {
    kind: 'sqlite',
    url: `sqlite:${path}`,
    async rows(sql) {
      const db = new BetterSqlite3(path, { readonly: true });
      try {
        return db.prepare<[], Row>(sql).all();
      } finally {
        db.close();
      }
    },
    async remove() {},
  };
}

async function onServer(): Promise<StoryDatabase> {
  const { url, remove } = await postgresForScenarios();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {});
  return {
    kind: 'postgres',
    url,
    rows: async (sql) => (await pool.query<Row>(sql.replaceAll('instr(', 'strpos('))).rows,
    async remove() {
      await pool.end();
      await remove();
    },
  };
}
