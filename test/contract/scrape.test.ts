import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { type CompiledQuery, Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../src/adapters/sql/schema.ts';
import { tablesOn } from '../../src/adapters/sql/tables.ts';
import { sqliteDialect } from '../../src/adapters/sqlite/dialect.ts';
import { openSqlite } from '../../src/adapters/sqlite/open.ts';
import { silentLog } from '../../src/core/log.ts';
import { createMetrics } from '../../src/entrypoints/webhook/metrics.ts';
import { MAX_COUNTED } from '../../src/ports/storage.ts';
import { at } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';

const folder = temporaryFolders();
const clock = { now: () => at(0) };

let db: BetterSqlite3.Database;
let queries: CompiledQuery[];
let kysely: Kysely<Database>;

beforeEach(async () => {
  const path = join(folder(), 'test.db');
  await openSqlite(path, { clock }).close();
  db = new BetterSqlite3(path);
  queries = [];
  kysely = new Kysely<Database>({
    dialect: sqliteDialect(db, (error) => error),
    log: ({ query }) => void queries.push(query),
  });
});
afterEach(() => {
  db.close();
});

/** As many rows as requested, in each table that grows. */
function fill(rows: number): void {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  db.exec(`
    ${numbers} INSERT INTO deliveries (guid, event, received_at, status, attempts, queue_key)
      SELECT 'g' || i, 'push', '2026-01-05T12:00:00.000Z', 'received', 0, 'k' || i FROM n;
    ${numbers} INSERT INTO effects (id, key, effect_json, wished_hash, status, begun, progress_json, attempts, created_at, updated_at)
      SELECT 'e' || i, 'k' || i, '{}', 'x', 'done', 0, '{}', 0, 'now', 'now' FROM n;
    ${numbers} INSERT INTO chain_runs (id, installation_id, repository_id, repository, head_sha, base_ref, base_sha, chain,
        definition_json, settings_json, facts_json, event_json, status, paused, created_at, updated_at)
      SELECT 'r' || i, 1, 1, 'a/b', 'x', 'main', 'x', 'c', '{}', '{}', '{}', '{}', 'completed', 0, 'now', 'now' FROM n;
    ${numbers} INSERT INTO jobs (kind, key, payload, run_at, attempts) SELECT 'wake', 'k' || i, '0', '2020-01-01T00:00:00.000Z', 0 FROM n;
  `);
}

/** The metrics of a scrape, and its statements. */
async function scrape(): Promise<{ shown: string; statements: CompiledQuery[] }> {
  queries = [];
  const metrics = createMetrics();
  const storage = { read: tablesOn(kysely, clock) };
  await metrics.collect({
    storage,
    clock,
    log: silentLog,
    rateLimits: () => [],
    disks: () => [],
    signedOut: () => [],
    webhookOutage: () => undefined,
    waitingForGitHub: () => new Map(),
    skillIndexes: async () => undefined,
    slots: () => ({ reviews: { slots: 16, busy: 0 }, others: { slots: 16, busy: 0 } }),
  });
  return { shown: await metrics.registry.metrics(), statements: queries };
}

it('a scrape needs as few statements on a full database as on an empty one', { tags: 'slow' }, async () => {
  const empty = await scrape();
  fill(500);
  const full = await scrape();
  expect(full.statements.map(({ sql }) => sql)).toEqual(empty.statements.map(({ sql }) => sql));
  expect(full.statements).toHaveLength(8);
  expect(full.shown).toContain('countersign_deliveries{status="received"} 500');
  expect(full.shown).toContain('countersign_effects{status="done"} 500');
  expect(full.shown).toContain('countersign_runs{status="completed"} 500');
  expect(full.shown).toContain('countersign_jobs_due 1000');
});

it('no statement of a scrape reads a growing table beyond the first rows of an index', async () => {
  fill(10);
  const { statements } = await scrape();
  const read = statements.flatMap(({ sql, parameters }) => {
    const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
    const isLimited = (sql.match(/\blimit\b/g) ?? []).length;
    const lines = plan
      .map(({ detail }) => detail)
      .filter((line) => /\b(SCAN|SEARCH) (?!some\b|CONSTANT)/.test(line));
    // Each read of what grows has its own limit. The jobs of one key are few.
    const growing = lines.filter(
      (line) => !/status_counts|firing_counts|jobs_by_key|SEARCH other/.test(line),
    );
    expect(isLimited).toBe(growing.length);
    return lines;
  });
  expect([...new Set(read)].sort()).toEqual([
    'SCAN deliveries USING INDEX deliveries_to_queue',
    'SCAN firing_counts',
    'SEARCH job USING INDEX jobs_by_worth (worth=? AND run_at<?)',
    'SEARCH jobs USING COVERING INDEX jobs_by_lease (lease_token>?)',
    'SEARCH jobs USING INDEX jobs_waiting (run_at<?)',
    'SEARCH jobs USING INDEX jobs_waiting (run_at>?)',
    'SEARCH other USING INDEX jobs_by_key (key=?)',
    'SEARCH status_counts USING PRIMARY KEY (subject=?)',
  ]);
});

it('a backlog is counted up to a limit', { tags: 'slow' }, async () => {
  fill(MAX_COUNTED + 5);
  expect(await tablesOn(kysely, clock).jobs.countDue(clock.now())).toBe(2 * MAX_COUNTED);
});
