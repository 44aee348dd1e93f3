import BetterSqlite3 from 'better-sqlite3';
import { type CompiledQuery, Kysely } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../src/adapters/sql/schema.ts';
import { tablesOn } from '../../src/adapters/sql/tables.ts';
import { sqliteDialect } from '../../src/adapters/sqlite/dialect.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { MERGE_ONLY, open, start } from '../scenario/support.ts';
import { studioOn } from '../support/studio-on.ts';

const PAGES = [
  '/',
  '/?show=yours',
  '/?show=stopped',
  '/octo/app/pull/1',
  '/runs',
  '/runs?state=failed',
  '/runs/run_1',
  '/artifacts',
  '/artifacts?failed=1',
  '/artifacts?text=nobody',
  '/chains',
  '/skills',
  '/insight',
  '/report',
  '/operations',
  '/operations/deliveries',
  '/operations/deliveries?text=nobody',
  '/operations/effects?status=done',
];

/** What does not grow with the runs: counts by status, chain and day, questions that are open, repositories, and what people set up. */
const SMALL =
  /status_counts|firing_counts|chain_counts|newest_of_chains|daily_figures|lead_figures|repository_states|approvals_(open|asked)|pull_requests_open|\b(chains|skills|schedules|cursors|json_each)\b/;
/** Names within statements of such tables, of a list of values, of repositories that are found one by one, and of what people accepted. */
const SMALL_HERE = /^SCAN (n|wanted|known|a)\b/;

test('no statement of a page of Studio goes through a table that grows, but for the first rows of an index', async () => {
  const harness = await start({ chain: MERGE_ONLY, pollMs: 3_600_000 });
  await open(harness);
  const db = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length), { readonly: true });
  try {
    // Without figures about the tables, SQLite makes the same plans however large they are.
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'").all()).toEqual([]);
    let queries: CompiledQuery[] = [];
    const kysely = new Kysely<Database>({
      dialect: sqliteDialect(db, (error) => error),
      log: ({ query }) => void queries.push(query),
    });
    const read = tablesOn(kysely, harness.clock);
    const studio = studioOn({ read, check: async () => {} } as unknown as Storage, harness);
    const tooMuch: string[] = [];
    for (const path of PAGES) {
      queries = [];
      expect((await studio(path)).status, path).toBe(200);
      // No row is in an empty list, and none is read then.
      for (const { sql, parameters } of queries.filter(({ sql }) => !sql.includes(' in ()'))) {
        const plan = db
          .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...parameters);
        for (const { detail } of plan) {
          const isScan =
            /^SCAN (?!CONSTANT ROW|\(subquery|found$|some$)/.test(detail) &&
            !SMALL.test(detail) &&
            !SMALL_HERE.test(detail);
          // The newest rows by number, or the first of an index.
          const isFirstRows =
            /order by "id"( desc)? limit/.test(sql) ||
            (/ USING (COVERING )?INDEX /.test(detail) && /\blimit\b/i.test(sql));
          if (isScan && !isFirstRows) tooMuch.push(`${path}: ${detail}: ${sql}`);
        }
      }
    }
    expect(tooMuch).toEqual([]);
  } finally {
    db.close();
  }
});
