import type { Insertable, Kysely, Selectable } from 'kysely';
import { type Reason, reasonCodeSchema } from '../../domain/explanation/reason.ts';
import { type Actor, actorSchema } from '../../domain/run/actor.ts';
import type { PastTransition } from '../../domain/run/history.ts';
import { fromJsonOrNull, reading, toDate, toText } from './columns.ts';
import { insertOnceCompiled } from './insert.ts';
import type { Database, TransitionsTable } from './schema.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** A row to be written, and its stored status. */
export interface Change {
  kind: TransitionsTable['subject_kind'];
  from: PastTransition['from'] | undefined;
  to: { id: string; status: PastTransition['to']; reason: Reason | null };
}

const insertTransitions = insertOnceCompiled((db, rows: readonly Insertable<TransitionsTable>[]) =>
  db.insertInto('transitions').values(rows),
);

/** Adds a transition for each change of a status. Those of one transaction are written together. */
export function recordTransitions(db: Kysely<Database>, unit: UnitOfWork | undefined) {
  let lines: Insertable<TransitionsTable>[] = [];

  async function flush(): Promise<void> {
    if (lines.length > 0) await insertTransitions(db, lines.splice(0));
  }

  unit?.writesLast(flush);
  return {
    async record(changes: readonly Change[], by: Actor, at: Date): Promise<void> {
      lines = lines.concat(
        changes
          .filter(({ from, to }) => from !== undefined && from !== to.status)
          .map(({ kind, from, to }) => ({
            subject_kind: kind,
            subject_id: to.id,
            from_status: from ?? to.status,
            to_status: to.status,
            reason_code: to.reason?.code ?? null,
            at: toText(at),
            actor_json: JSON.stringify(by),
          })),
      );
      if (!unit) await flush();
    },
    flush,
  };
}

/**
 * In insertion order, because all transitions of one transaction have the same time.
 * @param newest only so many of the newest
 */
export async function transitionsOf(
  db: Kysely<Database>,
  runId: string,
  archived: readonly Selectable<TransitionsTable>[] = [],
  newest?: number,
): Promise<PastTransition[]> {
  const invocations = db.selectFrom('invocations').select('id').where('run_id', '=', runId);
  const sessions = db.selectFrom('sessions').select('id').where('invocation_id', 'in', invocations);
  const all = db
    .selectFrom('transitions')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('subject_id', '=', runId),
        eb('subject_id', 'in', invocations),
        eb('subject_id', 'in', sessions),
      ]),
    );
  if (newest === undefined) return [...archived, ...(await all.orderBy('id').execute())].map(transitionOf);
  const rows = await all.orderBy('id', 'desc').limit(newest).execute();
  return [...archived, ...rows.reverse()].slice(-newest).map(transitionOf);
}

/** Statuses are not validated, like those of the rows that they are about. */
function transitionOf(row: Selectable<TransitionsTable>): PastTransition {
  return reading('transitions', row.id, () => ({
    subject: { kind: row.subject_kind, id: row.subject_id },
    from: row.from_status,
    to: row.to_status,
    reason: row.reason_code === null ? null : reasonCodeSchema.parse(row.reason_code),
    by: fromJsonOrNull(actorSchema, row.actor_json),
    at: toDate(row.at),
  }));
}
