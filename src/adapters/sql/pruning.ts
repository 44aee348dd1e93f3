import { type Kysely, type RawBuilder, sql } from 'kysely';
import { CountersignError, unreachable } from '../../core/errors.ts';
import { ONE_TIME_EVENTS } from '../../domain/chain/trigger-schema.ts';
import { firedOnce } from '../../domain/run/fired-once.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import type { PrunedId, PrunedKind, Pruning, PullRequestPlace } from '../../ports/retention.ts';
import type { Archives } from './archives.ts';
import { parseJson, toText } from './columns.ts';
import { restoreArchives } from './delivery-archives.ts';
import { memberText, unindexed } from './dialect.ts';
import { canBeForgotten, endedRuns, removableRuns } from './pruning-conditions.ts';
import { pageOf } from './pruning-pages.ts';
import type { Database } from './schema.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export function pruningTable(db: Kysely<Database>, archives: Archives, unit?: UnitOfWork): Pruning {
  return {
    page: (kind, page) => pageOf(db, kind, page),

    async remove(kind, ids, before) {
      if (ids.length === 0) return 0;
      unit?.movesArchives();
      return removeOf(kind)(db, ids, toText(before), archives);
    },

    async unknownPullRequests(runIds, before) {
      if (runIds.length === 0) return [];
      const { rows } = await sql<PullRequestPlace>`
        SELECT DISTINCT r.repository_id AS "repositoryId", r.pull_request AS "number",
               r.repository AS "repository", r.installation_id AS "installationId"
          FROM chain_runs AS r
          LEFT JOIN pull_requests AS p ON p.repository_id = r.repository_id AND p.number = r.pull_request
          WHERE r.id IN (${sql.join(runIds)}) AND r.pull_request IS NOT NULL
          AND coalesce(r.finished_at, r.created_at) < ${toText(before)}
          AND (p.state IS NULL OR (p.state = 'open' AND p.state_at < ${toText(before)}))
          ORDER BY 1, 2`.execute(db);
      return rows;
    },

    async blobsToDelete(limit) {
      const rows = await db
        .selectFrom('blobs_to_delete')
        .select('path')
        .orderBy('path')
        .limit(limit)
        .execute();
      return rows.map(({ path }) => path);
    },

    async forgetBlobs(paths) {
      if (paths.length > 0) await db.deleteFrom('blobs_to_delete').where('path', 'in', paths).execute();
    },
  };
}

type Remove = (
  db: Kysely<Database>,
  ids: readonly PrunedId[],
  before: string,
  archives: Archives,
) => Promise<number>;

function removeOf(kind: PrunedKind): Remove {
  switch (kind) {
    case 'traces':
      return removeTraces;
    case 'archives':
      return restoreRuns;
    case 'artifacts':
      return removeArtifacts;
    case 'archived_bodies':
    case 'archived_deliveries':
      return restoreDeliveries;
    case 'bodies':
      return removeBodies;
    case 'runs':
      return removeRuns;
    case 'calls':
      return removeCalls;
    case 'replies':
      return removeReplies;
    case 'pull_requests':
      return removePullRequests;
    case 'deliveries':
      return removeDeliveries;
    case 'firings':
      return removeFirings;
    case 'fired_once':
      return removeFiredOnce;
    default:
      return unreachable(kind);
  }
}

/** Executes a statement and returns how many rows it deleted. */
async function removed(db: Kysely<Database>, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows = 0n } = await statement.execute(db);
  return Number(numAffectedRows);
}

async function idsOf(db: Kysely<Database>, query: RawBuilder<{ id: string }>): Promise<string[]> {
  return (await query.execute(db)).rows.map(({ id }) => id);
}

/** A list for `IN`; may be empty. */
function listOf(ids: readonly string[]): RawBuilder<unknown> {
  return ids.length === 0 ? sql`NULL` : sql.join(ids);
}

/** Records blobs for deletion, in the transaction that deletes their rows. */
async function noteBlobs(db: Kysely<Database>, paths: RawBuilder<unknown>): Promise<void> {
  await sql`INSERT INTO blobs_to_delete (path) ${paths} ON CONFLICT DO NOTHING`.execute(db);
}

/**
 * Also the blobs of their inputs and outputs, which are in the folder of the run or call, so no other row
 * refers to them.
 */
async function removeTraces(db: Kysely<Database>, ids: readonly PrunedId[], before: string): Promise<number> {
  const traces = sql`id IN (${sql.join(ids)})`;
  const runs = await idsOf(
    db,
    endedRuns(
      sql`SELECT run_id FROM skill_execution_traces WHERE ${traces} AND ${unindexed('run_id')} IS NOT NULL`,
      before,
    ),
  );
  const calls = await idsOf(
    db,
    sql`SELECT id FROM skill_calls WHERE id IN (SELECT call_id FROM skill_execution_traces WHERE ${traces} AND call_id IS NOT NULL)
      AND finished_at < ${before}`,
  );
  if (runs.length + calls.length === 0) return 0;
  const old = sql`${traces} AND (${unindexed('run_id')} IN (${listOf(runs)}) OR ${unindexed('call_id')} IN (${listOf(calls)}))`;
  await noteBlobs(db, sql`SELECT input_path FROM skill_execution_traces WHERE ${old}`);
  await noteBlobs(
    db,
    sql`SELECT output_path FROM skill_execution_traces WHERE ${old} AND output_path IS NOT NULL`,
  );
  return removed(db, sql`DELETE FROM skill_execution_traces WHERE ${old}`);
}

async function restored(archives: Archives, runId: string): Promise<void> {
  try {
    await archives.ofRun(runId);
  } catch (error) {
    if (!(error instanceof CountersignError) || error.code !== 'storage.unreadable_row') throw error;
  }
}

/** Puts archived artifacts back into their table, whose turn is next. What is left is archived again. */
async function restoreRuns(
  db: Kysely<Database>,
  ids: readonly PrunedId[],
  before: string,
  archives: Archives,
): Promise<number> {
  for (const id of await idsOf(db, endedRuns(sql.join(ids), before))) await restored(archives, id);
  return 0;
}

/** Puts archived deliveries back into their table, whose turn is next, as is that of their bodies. */
async function restoreDeliveries(db: Kysely<Database>, ids: readonly PrunedId[]): Promise<number> {
  await restoreArchives(db, ids.map(Number));
  return 0;
}

/** Keeps verdicts of gates with their run: a degraded outcome must stay degraded if the run continues. */
async function removeArtifacts(
  db: Kysely<Database>,
  ids: readonly PrunedId[],
  before: string,
): Promise<number> {
  const artifacts = sql`id IN (${sql.join(ids)}) AND kind <> 'gate_verdict'`;
  const runs = await idsOf(db, endedRuns(sql`SELECT run_id FROM artifacts WHERE ${artifacts}`, before));
  if (runs.length === 0) return 0;
  const old = sql`${artifacts} AND ${unindexed('run_id')} IN (${sql.join(runs)})`;
  await noteBlobs(db, sql`SELECT file_path FROM artifacts WHERE ${old} AND file_path IS NOT NULL`);
  return removed(db, sql`DELETE FROM artifacts WHERE ${old}`);
}

/**
 * Keeps the delivery itself with its GUID, because GitHub may send it again. Deletes a pack together with its
 * last body.
 */
async function removeBodies(db: Kysely<Database>, ids: readonly PrunedId[], before: string): Promise<number> {
  const old = sql`delivery_id IN (
    SELECT id FROM deliveries WHERE id IN (${sql.join(ids)}) AND status IN ('done', 'failed') AND finished_at < ${before})`;
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    SELECT min(pack_id) AS first, max(pack_id) AS last FROM delivery_bodies WHERE ${old}`.execute(db);
  const count = await removed(db, sql`DELETE FROM delivery_bodies WHERE ${old}`);
  const { first, last } = rows[0] ?? {};
  if (first == null || last == null) return count;
  // By range, which also finds packs in between whose only body was replaced by a redelivery.
  await sql`DELETE FROM body_packs WHERE id BETWEEN ${first} AND ${last}
    AND NOT EXISTS (SELECT 1 FROM delivery_bodies WHERE pack_id = body_packs.id)`.execute(db);
  return count;
}

async function removeRuns(
  db: Kysely<Database>,
  ids: readonly PrunedId[],
  before: string,
  archives: Archives,
): Promise<number> {
  const runs = await idsOf(db, removableRuns(ids, before));
  if (runs.length === 0) return 0;
  // Some of their effects stay. A damaged archive is only deleted.
  for (const id of runs) await restored(archives, id);
  await sql`DELETE FROM run_archives WHERE id IN (SELECT archive_id FROM chain_runs WHERE id IN (${sql.join(runs)}))`.execute(
    db,
  );
  const idList = sql.join(runs);
  await noteFired(db, runs);
  await noteBlobs(
    db,
    sql`SELECT file_path FROM artifacts WHERE run_id IN (${idList}) AND file_path IS NOT NULL`,
  );
  await noteBlobs(db, sql`SELECT input_path FROM skill_execution_traces WHERE run_id IN (${idList})`);
  await noteBlobs(
    db,
    sql`SELECT output_path FROM skill_execution_traces WHERE run_id IN (${idList}) AND output_path IS NOT NULL`,
  );
  const steps = sql`SELECT id FROM invocations WHERE run_id IN (${idList})`;
  await sql`DELETE FROM transitions WHERE subject_id IN (SELECT id FROM sessions WHERE invocation_id IN (${steps}))`.execute(
    db,
  );
  await sql`DELETE FROM transitions WHERE subject_id IN (${steps})`.execute(db);
  await sql`DELETE FROM transitions WHERE subject_id IN (${idList})`.execute(db);
  // The status comment belongs to the pull request, and a gate check to every pull request with its head.
  // This run was only the last to change them.
  await sql`DELETE FROM effects WHERE run_id IN (${idList}) AND key NOT LIKE 'status:%' AND key NOT LIKE 'gate_check:%'`.execute(
    db,
  );
  // A pull request's usage stays counted as long as the pull request can use more.
  await sql`DELETE FROM model_calls WHERE run_id IN (${idList}) AND pull_request IS NULL`.execute(db);
  return removed(db, sql`DELETE FROM chain_runs WHERE id IN (${idList})`);
}

async function noteFired(db: Kysely<Database>, runs: readonly string[]): Promise<void> {
  const rows = await db
    .selectFrom('chain_runs')
    .select(['repository_id', 'head_sha', 'chain', 'event_json', 'facts_json', 'created_at'])
    .where('id', 'in', runs)
    .execute();
  for (const { repository_id, head_sha, chain, event_json, facts_json, created_at } of rows) {
    const event = parseJson<{ kind: string }>(event_json);
    if (!ONE_TIME_EVENTS.some((kind) => kind === event.kind)) continue;
    await db
      .insertInto('fired_once')
      .values({
        repository_id,
        head_sha,
        chain,
        subject: firedOnce(parseJson<RunFacts>(facts_json)),
        fired_at: created_at,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

async function removeCalls(db: Kysely<Database>, ids: readonly PrunedId[], before: string): Promise<number> {
  const calls = await idsOf(
    db,
    sql`SELECT id FROM skill_calls WHERE id IN (${sql.join(ids)}) AND finished_at < ${before}
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE key = skill_calls.id)`,
  );
  if (calls.length === 0) return 0;
  const idList = sql.join(calls);
  await noteBlobs(db, sql`SELECT input_path FROM skill_execution_traces WHERE call_id IN (${idList})`);
  await noteBlobs(
    db,
    sql`SELECT output_path FROM skill_execution_traces WHERE call_id IN (${idList}) AND output_path IS NOT NULL`,
  );
  return removed(db, sql`DELETE FROM skill_calls WHERE id IN (${idList})`);
}

/** Replies to commands that are too old to be repeated, and gate checks of heads without runs. */
function removeReplies(db: Kysely<Database>, ids: readonly PrunedId[], before: string): Promise<number> {
  return removed(
    db,
    sql`DELETE FROM effects WHERE id IN (${sql.join(ids)}) AND ${unindexed('run_id')} IS NULL AND (key LIKE 'command:%' OR (key LIKE 'gate_check:%' AND NOT EXISTS (
        SELECT 1 FROM chain_runs WHERE head_sha = ${memberText('effects.effect_json', 'content', 'head_sha')})))
      AND ${unindexed('status')} <> 'pending' AND updated_at < ${before}`,
  );
}

/**
 * The rest of a merged pull request whose runs are deleted. Ids are `repository#number`, as in the keys of
 * its effects.
 */
async function removePullRequests(
  db: Kysely<Database>,
  ids: readonly PrunedId[],
  before: string,
): Promise<number> {
  let count = 0;
  for (const id of ids) {
    const [repository, number] = String(id).split('#').map(Number);
    const of = sql`repository_id = ${repository} AND pull_request = ${number}`;
    const { rows } = await sql`
      SELECT 1 FROM pull_requests WHERE repository_id = ${repository} AND number = ${number}
        AND state = 'merged' AND state_at < ${before}
        AND NOT EXISTS (SELECT 1 FROM chain_runs WHERE ${of})
        AND NOT EXISTS (SELECT 1 FROM jobs WHERE key = ${`pr:${id}`})
        AND NOT EXISTS (SELECT 1 FROM effects WHERE key = ${`status:${id}`} AND status = 'pending')`.execute(
      db,
    );
    if (rows.length === 0) continue;
    // The keys of check runs about the configuration are the pull request's id, a colon, and more.
    const withoutRun = sql`${unindexed('run_id')} IS NULL AND ${unindexed('status')} <> 'pending'`;
    await sql`DELETE FROM effects WHERE key = ${`status:${id}`} AND ${withoutRun}`.execute(db);
    await sql`DELETE FROM effects WHERE key >= ${`check_run:${id}:`} AND key < ${`check_run:${id};`} AND ${withoutRun}`.execute(
      db,
    );
    await sql`DELETE FROM model_calls WHERE ${of}`.execute(db);
    await sql`DELETE FROM applied_commands WHERE ${of}`.execute(db);
    count += await removed(
      db,
      sql`DELETE FROM pull_requests WHERE repository_id = ${repository} AND number = ${number}`,
    );
  }
  return count;
}

/** Keeps deliveries that began a run: they are the start of its history. */
function removeDeliveries(db: Kysely<Database>, ids: readonly PrunedId[], before: string): Promise<number> {
  return removed(
    db,
    sql`DELETE FROM deliveries WHERE id IN (${sql.join(ids)}) AND status IN ('done', 'failed')
      AND finished_at < ${before} AND queue_key IS NULL
      AND NOT EXISTS (SELECT 1 FROM delivery_bodies WHERE delivery_id = deliveries.id)
      AND NOT EXISTS (SELECT 1 FROM chain_runs WHERE delivery_id = deliveries.id)`,
  );
}

/** One that is due, or waits for an earlier run, still fires. */
function removeFirings(db: Kysely<Database>, ids: readonly PrunedId[], before: string): Promise<number> {
  return removed(
    db,
    sql`DELETE FROM firings WHERE id IN (${sql.join(ids)}) AND status IN ('fired', 'skipped') AND updated_at < ${before}`,
  );
}

/** Ids are the columns of the key, as JSON. */
async function removeFiredOnce(
  db: Kysely<Database>,
  ids: readonly PrunedId[],
  before: string,
): Promise<number> {
  let count = 0;
  for (const id of ids) {
    const [repository, head, chain, subject] = parseJson<[number, string, string, string]>(String(id));
    count += await removed(
      db,
      sql`DELETE FROM fired_once WHERE repository_id = ${repository} AND head_sha = ${head} AND chain = ${chain}
        AND subject = ${subject} AND fired_at < ${before} AND ${canBeForgotten}`,
    );
  }
  return count;
}
