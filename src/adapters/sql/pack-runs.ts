import { type Kysely, type RawBuilder, sql } from 'kysely';
import { toTheEndOf, unindexed } from './dialect.ts';
import { packJson } from './packed-json.ts';
import type { Database } from './schema.ts';

/**
 * What is packed of a run. Gate checks are not: SQL looks them up by installation and head.
 */
const PACKED: readonly {
  table: string;
  rows(run: string): RawBuilder<unknown>;
  columns: readonly string[];
}[] = [
  {
    table: 'chain_runs',
    rows: (run) => sql`id = ${run}`,
    columns: ['definition_json', 'settings_json', 'facts_json', 'event_json', 'reason_json'],
  },
  { table: 'invocations', rows: (run) => sql`run_id = ${run}`, columns: ['outcome_json', 'reason_json'] },
  {
    table: 'sessions',
    rows: (run) => sql`invocation_id IN (SELECT id FROM invocations WHERE run_id = ${run})`,
    columns: ['reason_json', 'artifact_contract_json', 'artifact_verification_json'],
  },
  { table: 'artifacts', rows: (run) => sql`run_id = ${run}`, columns: ['content'] },
  {
    table: 'approvals',
    rows: (run) => sql`run_id = ${run} AND ${unindexed('status')} <> 'open'`,
    columns: ['decision_json', 'watch_json'],
  },
  {
    table: 'effects',
    rows: (run) => sql`run_id = ${run} AND ${unindexed('status')} = 'done' AND key NOT LIKE 'gate_check:%'`,
    columns: ['effect_json', 'progress_json'],
  },
];

/** Packs the oldest runs that ended before the time and are not packed. Returns how many there were. */
export async function packEndedRuns(db: Kysely<Database>, before: string, limit: number): Promise<number> {
  const runs = await db
    .selectFrom('chain_runs')
    .select('id')
    // A literal, because SQLite uses a partial index only for a condition that it can read.
    .where('packed', '=', sql.lit(0))
    .where('finished_at', '<', before)
    .orderBy('finished_at')
    .limit(limit)
    .execute();
  for (const { id } of runs) await packRun(db, id);
  return runs.length;
}

export async function packRun(db: Kysely<Database>, id: string): Promise<void> {
  for (const { table, rows, columns } of PACKED) await packRows(db, table, rows(id), columns);
  await db.updateTable('chain_runs').set({ packed: 1 }).where('id', '=', id).execute();
}

async function packRows(
  db: Kysely<Database>,
  table: string,
  condition: RawBuilder<unknown>,
  columns: readonly string[],
): Promise<void> {
  const { rows } = await sql<Record<string, string | null>>`
    SELECT id, ${sql.join(columns.map((column) => sql.ref(column)))} FROM ${sql.table(table)}
      WHERE ${condition}`.execute(db);
  for (const row of rows) {
    const changed = columns.flatMap((column) => {
      const text = row[column] ?? '';
      const packed = packJson(text);
      return packed === text ? [] : [sql`${sql.ref(column)} = ${packed}`];
    });
    if (changed.length === 0) continue;
    await sql`UPDATE ${sql.table(table)} SET ${sql.join(changed)}${toTheEndOf(table)} WHERE id = ${row.id}`.execute(
      db,
    );
  }
}
