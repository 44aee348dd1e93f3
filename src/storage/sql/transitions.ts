import type { Kysely } from 'kysely';
import type { Reason } from '../../run/reason.ts';
import { toText } from './columns.ts';
import type { Database, TransitionsTable } from './schema.ts';

/** A row about to be written, and the status it has so far. */
export interface Change {
  kind: TransitionsTable['subject_kind'];
  from: string | undefined;
  to: { id: string; status: string; reason: Reason | null };
}

/** Writes a line of history for each change that changes the status. */
export async function recordTransitions(
  db: Kysely<Database>,
  changes: readonly Change[],
  at: Date,
): Promise<void> {
  const lines = changes.flatMap(({ kind, from, to }) =>
    from === undefined || from === to.status
      ? []
      : [
          {
            subject_kind: kind,
            subject_id: to.id,
            from_status: from,
            to_status: to.status,
            reason_code: to.reason?.code ?? null,
            at: toText(at),
          },
        ],
  );
  if (lines.length > 0) await db.insertInto('transitions').values(lines).execute();
}
