import { type Insertable, type Kysely, sql } from 'kysely';
import { bucketOf, type Figure, isTime } from '../../domain/run/figures.ts';
import type { FigureOfRepository, LeadOfRepository } from '../../domain/run/report.ts';
import type { Insight, InsightFilter } from '../../ports/insight.ts';
import { toDate, toText } from './columns.ts';
import { JOIN_IN_ORDER } from './dialect.ts';
import { insertOnceCompiled } from './insert.ts';
import type { DailyFiguresTable, Database } from './schema.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { visibleIn } from './visible-in.ts';

const addFigures = insertOnceCompiled((db, rows: readonly Insertable<DailyFiguresTable>[]) =>
  db
    .insertInto('daily_figures')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['day', 'repository_id', 'what', 'name', 'bucket']).doUpdateSet((eb) => ({
        count: eb('daily_figures.count', '+', eb.ref('excluded.count')),
        total: eb('daily_figures.total', '+', eb.ref('excluded.total')),
      })),
    ),
);

/** One row for each key: PostgreSQL refuses a statement that would change a row twice. */
function summed(rows: readonly DailyFiguresTable[]): DailyFiguresTable[] {
  const byKey = new Map<string, DailyFiguresTable>();
  for (const row of rows) {
    const key = JSON.stringify([row.day, row.repository_id, row.what, row.name, row.bucket]);
    const known = byKey.get(key);
    byKey.set(
      key,
      known ? { ...known, count: known.count + row.count, total: known.total + row.total } : row,
    );
  }
  return [...byKey.values()];
}

/** They group by numbers first: SQLite sorts the rows of a group, and compares numbers faster than texts. */
export function insightTable(db: Kysely<Database>, unit?: UnitOfWork): Insight {
  const unwritten: Figure[] = [];
  unit?.writesLast(async () => {
    if (unwritten.length > 0) await addFigures(db, summed(unwritten.splice(0).map(rowOf)));
  });
  const within = ({ visible, repositoryId }: InsightFilter, column = sql.ref('repository_id')) =>
    repositoryId === undefined
      ? visibleIn(visible, column)
      : visible.has(repositoryId)
        ? sql<boolean>`${column} = ${repositoryId}`
        : sql<boolean>`FALSE`;

  return {
    add(...figures) {
      unwritten.push(...figures);
    },

    async totals(filter) {
      const { rows } = await sql<Pick<DailyFiguresTable, 'what' | 'name' | 'bucket' | 'count' | 'total'>>`
        SELECT what, name, bucket, sum(count) AS count, sum(total) AS total FROM daily_figures
          WHERE day >= ${dayOf(filter.since)} AND what IN (${sql.join(filter.kinds)}) AND ${within(filter)}
          GROUP BY bucket, what, name`.execute(db);
      return rows;
    },

    async leadTimes(filter) {
      const { rows } = await sql<{ day: string; bucket: number; count: number }>`
        SELECT day, bucket, sum(count) AS count FROM lead_figures
          WHERE day >= ${dayOf(filter.since)} AND ${within(filter)}
          GROUP BY day, bucket`.execute(db);
      return rows;
    },

    async ofRepositories({ visible, ids, since }) {
      const asked = { ids: ids.filter((id) => visible.has(id)) };
      const chosen = visibleIn(asked, sql.ref('repository_id'));
      const { rows: figures } = await sql<FigureOfRepository>`
        SELECT repository_id AS "repositoryId", what, name, bucket, sum(count) AS count FROM daily_figures
          WHERE day >= ${dayOf(since)} AND what IN ('ended', 'changes_requested', 'answered') AND ${chosen}
          GROUP BY repository_id, bucket, what, name`.execute(db);
      const { rows: leads } = await sql<LeadOfRepository>`
        SELECT repository_id AS "repositoryId", bucket, sum(count) AS count FROM lead_figures
          WHERE day >= ${dayOf(since)} AND ${chosen}
          GROUP BY repository_id, bucket`.execute(db);
      return { figures, leads };
    },

    async waitingIn({ visible, ids }) {
      const asked = { ids: ids.filter((id) => visible.has(id)) };
      // Open questions are few, and their runs are those that nobody has archived.
      const { rows } = await sql<{ repositoryId: number; count: number; since: string }>`
        SELECT r.repository_id AS "repositoryId", count(*) AS count, min(a.asked_at) AS since
          FROM approvals AS a ${JOIN_IN_ORDER} chain_runs AS r ON r.id = a.run_id
          WHERE a.status = 'open' AND r.status = 'waiting_approval' AND ${visibleIn(asked, sql.ref('r.repository_id'))}
          GROUP BY r.repository_id`.execute(db);
      return rows.map((row) => ({ ...row, since: toDate(row.since) }));
    },

    async repositories(visible, limit) {
      const { rows } = await sql<{ id: number; name: string }>`
        WITH RECURSIVE known (id) AS (
          SELECT min(repository_id) FROM pull_requests
          UNION ALL
          SELECT (SELECT min(repository_id) FROM pull_requests WHERE repository_id > known.id) FROM known WHERE known.id IS NOT NULL
        )
        SELECT id, (SELECT repository FROM pull_requests WHERE repository_id = known.id ORDER BY number DESC LIMIT 1) AS name
          FROM known WHERE id IS NOT NULL AND ${visibleIn(visible, sql.ref('id'))} LIMIT ${limit}`.execute(
        db,
      );
      return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },

    async forget(before) {
      for (const table of ['daily_figures', 'lead_figures'] as const)
        await db.deleteFrom(table).where('day', '<', dayOf(before)).execute();
    },
  };
}

function dayOf(at: Date): string {
  return toText(at).slice(0, 10);
}

function rowOf({ what, repositoryId, name, at, amount }: Figure): Insertable<DailyFiguresTable> {
  return {
    day: dayOf(at),
    repository_id: repositoryId,
    what,
    name,
    bucket: isTime(what) ? bucketOf(amount) : 0,
    count: isTime(what) ? 1 : amount,
    total: Math.round(amount),
  };
}
