import { type Kysely, sql } from 'kysely';
import type { SessionLogs } from '../../ports/session-logs.ts';
import { toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import type { Database } from './schema.ts';

const remove = compiledOnce(
  (db, { sessionId }: { sessionId: string }) =>
    db.deleteFrom('session_logs').where('session_id', '=', sessionId),
  { keeps: true },
);

interface Piece {
  runId: string;
  sessionId: string;
  begunAt: string;
  text: string;
  bytes: number;
}

/** The result of a session that was ended meanwhile has deleted its lines, and nothing would delete these. */
const addToRunning = compiledOnce(
  (db, { runId, sessionId, begunAt, text, bytes }: Piece) =>
    db
      .insertInto('session_logs')
      .columns(['session_id', 'position', 'run_id', 'begun_at', 'text'])
      .expression((of) =>
        of
          .selectFrom('sessions')
          .select((session) => [
            'id',
            sql<number>`${bytes} + coalesce(${session
              .selectFrom('session_logs')
              .select(({ fn }) => fn.max('position').as('position'))
              .where('session_id', '=', sessionId)}, 0)`.as('position'),
            sql<string>`${runId}`.as('run_id'),
            sql<string>`${begunAt}`.as('begun_at'),
            sql<string>`${text}`.as('text'),
          ])
          .where('id', '=', sessionId)
          .where('status', 'in', ['running', 'waiting']),
      ),
  { keeps: true },
);

export function sessionLogsTable(db: Kysely<Database>): SessionLogs {
  return {
    async append({ runId, sessionId, begunAt, text, isFirst }) {
      if (isFirst) await remove(db, { sessionId });
      const bytes = Buffer.byteLength(text);
      await addToRunning(db, { runId, sessionId, begunAt: toText(begunAt), text, bytes });
    },

    async read({ runId, sessionId }, part) {
      const rows = await db
        .selectFrom('session_logs')
        .select(['position', 'begun_at', 'text'])
        .where('run_id', '=', runId)
        .where('session_id', '=', sessionId)
        .where((of) =>
          'after' in part
            ? of.or([
                of('position', '>', part.after.position),
                of('begun_at', '<>', toText(part.after.begunAt)),
              ])
            : of(
                'position',
                '>',
                of
                  .selectFrom('session_logs')
                  .select(({ fn }) => sql<number>`${fn.max('position')} - ${part.most}`.as('position'))
                  .where('session_id', '=', sessionId),
              ),
        )
        .orderBy('position')
        .execute();
      const [first] = rows;
      const last = rows.at(-1);
      if (!first || !last) return undefined;
      return {
        text: rows.map(({ text }) => text).join(''),
        begunAt: toDate(last.begun_at),
        from: first.position - Buffer.byteLength(first.text),
        to: last.position,
      };
    },
  };
}
