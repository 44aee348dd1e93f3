import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Json } from '../../core/canonical.ts';
import { unreachable } from '../../core/errors.ts';
import type { PrunedId, PrunedKind, Pruning } from '../../ports/retention.ts';
import { toText } from './columns.ts';
import { indexedBy, jsonArray } from './dialect.ts';
import { canBeForgotten } from './pruning-conditions.ts';
import type { Database } from './schema.ts';

type Page = Parameters<Pruning['page']>[1];

/** A row, its position in the order of its table, and whether it is older than the time. */
interface Found {
  id: PrunedId;
  place: string;
  old: 0 | 1;
}

/**
 * A page of old rows of one kind. Each table is read by an index in insertion order, so that a page costs as
 * much as it has rows. The first page without an old row is the last, because later rows are newer.
 */
export async function pageOf(
  db: Kysely<Database>,
  kind: PrunedKind,
  { after, before, limit }: Page,
): Promise<{ ids: PrunedId[]; next: Json }> {
  const { rows } = await sql<Found>`${selectOf(kind, after, toText(before))} LIMIT ${limit}`.execute(db);
  const last = rows.at(-1);
  const isLast = rows.length < limit || !rows.some(({ old }) => old === 1);
  return {
    ids: rows.flatMap(({ id, old }) => (old === 1 ? [id] : [])),
    next: last === undefined || isLast ? null : (JSON.parse(last.place) as Json),
  };
}

function selectOf(kind: PrunedKind, after: Json, before: string): RawBuilder<unknown> {
  const isOld = (column: RawBuilder<unknown>) =>
    sql`CASE WHEN ${column} < ${before} THEN 1 ELSE 0 END AS old`;
  // Every position sorts after the empty text and after 0.
  const [first, second, third] = Array.isArray(after) ? after : [after ?? 0];
  const text = typeof first === 'string' ? first : '';
  switch (kind) {
    case 'traces':
      return sql`SELECT id, ${jsonArray(sql.ref('id'))} AS place, ${isOld(sql`completed_at`)}
        FROM skill_execution_traces WHERE id > ${first} ORDER BY id`;
    case 'archives':
      return sql`SELECT r.id, ${jsonArray(sql.ref('a.id'))} AS place, ${isOld(sql`r.finished_at`)}
        FROM run_archives AS a ${indexedBy('run_archives_with_artifacts')} JOIN chain_runs AS r ON r.archive_id = a.id
        WHERE a.artifacts > 0 AND a.id > ${first} ORDER BY a.id`;
    case 'artifacts':
      return sql`SELECT id, ${jsonArray(sql.ref('id'))} AS place, ${isOld(sql`created_at`)}
        FROM artifacts WHERE id > ${text} ORDER BY id`;
    case 'archived_bodies':
      return sql`SELECT last_id AS id, ${jsonArray(sql.ref('last_id'))} AS place, ${isOld(sql`newest_at`)}
        FROM delivery_archives WHERE last_id > ${first}
          AND EXISTS (SELECT 1 FROM delivery_bodies WHERE delivery_id BETWEEN first_id AND last_id)
        ORDER BY last_id`;
    case 'archived_deliveries':
      return sql`SELECT last_id AS id, ${jsonArray(sql.ref('last_id'))} AS place, ${isOld(sql`newest_at`)}
        FROM delivery_archives WHERE last_id > ${first} ORDER BY last_id`;
    case 'bodies':
      return sql`SELECT delivery_id AS id, ${jsonArray(sql.ref('delivery_id'))} AS place, ${isOld(sql`received_at`)}
        FROM delivery_bodies JOIN deliveries ON deliveries.id = delivery_id
        WHERE delivery_id > ${first} ORDER BY delivery_id`;
    case 'runs':
      return sql`SELECT id, ${jsonArray(sql.ref('created_at'), sql.ref('id'))} AS place, ${isOld(sql`created_at`)}
        FROM chain_runs WHERE (created_at, id) > (${text}, ${second ?? ''}) ORDER BY created_at, id`;
    case 'calls':
      return sql`SELECT id, ${jsonArray(sql.ref('id'))} AS place, ${isOld(sql`created_at`)}
        FROM skill_calls WHERE id > ${text} ORDER BY id`;
    case 'replies':
      return sql`SELECT id, ${jsonArray(sql.ref('updated_at'), sql.ref('id'))} AS place, ${isOld(sql`updated_at`)}
        FROM effects ${indexedBy('effects_without_run')} WHERE run_id IS NULL AND (updated_at, id) > (${text}, ${second ?? ''}) ORDER BY updated_at, id`;
    case 'pull_requests':
      return sql`SELECT repository_id || '#' || number AS id, ${jsonArray(sql.ref('state_at'), sql.ref('repository_id'), sql.ref('number'))} AS place,
          ${isOld(sql`state_at`)}
        FROM pull_requests
        WHERE state = 'merged' AND (state_at, repository_id, number) > (${text}, ${second ?? 0}, ${third ?? 0})
        ORDER BY state_at, repository_id, number`;
    case 'deliveries':
      return sql`SELECT id, ${jsonArray(sql.ref('id'))} AS place, ${isOld(sql`received_at`)}
        FROM deliveries WHERE id > ${first} ORDER BY id`;
    case 'firings':
      return sql`SELECT id, ${jsonArray(sql.ref('updated_at'), sql.ref('id'))} AS place, ${isOld(sql`updated_at`)}
        FROM firings WHERE (updated_at, id) > (${text}, ${second ?? ''}) ORDER BY updated_at, id`;
    case 'fired_once':
      return sql`SELECT ${jsonArray(sql.ref('repository_id'), sql.ref('head_sha'), sql.ref('chain'), sql.ref('subject'))} AS id, ${jsonArray(sql.ref('fired_at'), sql.ref('repository_id'), sql.ref('head_sha'))} AS place,
          ${isOld(sql`fired_at`)}
        FROM fired_once ${indexedBy('fired_once_by_time')}
        WHERE ${canBeForgotten} AND (fired_at, repository_id, head_sha) >= (${text}, ${second ?? 0}, ${third ?? ''})
        ORDER BY fired_at, repository_id, head_sha, chain, subject`;
    default:
      return unreachable(kind);
  }
}
