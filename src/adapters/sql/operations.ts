import { type Kysely, type SqlBool, sql } from 'kysely';
import { isRunOver, RUN_STATUSES, type RunStatus } from '../../domain/run/run.ts';
import type { ChainUse, Operations, StepTime } from '../../ports/operations.ts';
import type { Visible } from '../../ports/visible.ts';
import { unpackRows } from './archives.ts';
import { toDate, toDateOrNull, toText } from './columns.ts';
import { summary } from './deliveries.ts';
import { newestArchived } from './delivery-archives.ts';
import type { Database } from './schema.ts';

const ENDED = RUN_STATUSES.filter(isRunOver);
/** Repositories and chains of one page. */
const MOST_CHAINS = 500;

export function operationsTable(db: Kysely<Database>): Operations {
  return {
    async chains(visible) {
      // Everything is in the index by pull request, so that no run is read.
      const counts = await db
        .selectFrom('chain_runs')
        .select(['repository_id', 'chain', 'status'])
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.max('created_at').as('at'),
          // Ids are in the order of time.
          fn.max('id').as('newest'),
        ])
        .where(isVisible('repository_id', visible))
        .groupBy(['repository_id', 'chain', 'status'])
        .execute();
      const groups = Map.groupBy(counts, ({ repository_id, chain }) => `${repository_id} ${chain}`);
      const newest = [...groups.values()]
        .map((rows) => rows.reduce((one, other) => (one.newest > other.newest ? one : other)))
        .toSorted((a, b) => (a.newest > b.newest ? -1 : 1))
        .slice(0, MOST_CHAINS);
      if (newest.length === 0) return [];
      const names = await db
        .selectFrom('chain_runs')
        .select(['id', 'repository'])
        .where(
          'id',
          'in',
          newest.map((one) => one.newest),
        )
        .execute();
      const repositories = new Map(names.map(({ id, repository }) => [id, repository]));
      return newest.map((one): ChainUse => {
        const rows = groups.get(`${one.repository_id} ${one.chain}`) ?? [];
        return {
          chain: one.chain,
          repositoryId: one.repository_id,
          repository: repositories.get(one.newest) ?? '',
          runs: Object.fromEntries(rows.map(({ status, count }) => [status, count])),
          newest: { id: one.newest, at: toDate(one.at) },
        };
      });
    },

    async stepTimes(visible, chain, most) {
      const runs = await db
        .selectFrom('chain_runs')
        .select(['id', 'archive_id'])
        .where('chain', '=', chain)
        .where('status', 'in', ENDED as RunStatus[])
        .where(isVisible('repository_id', visible))
        .orderBy('created_at', 'desc')
        .limit(most)
        .execute();
      const inTables = runs.filter(({ archive_id }) => archive_id === null).map(({ id }) => id);
      const archived = runs.flatMap(({ archive_id }) => archive_id ?? []);
      const rows =
        inTables.length === 0
          ? []
          : await db
              .selectFrom('invocations')
              .select(['step_id', 'step_index', 'started_at', 'finished_at'])
              .where('run_id', 'in', inTables)
              .execute();
      const contents =
        archived.length === 0
          ? []
          : await db.selectFrom('run_archives').select('content').where('id', 'in', archived).execute();
      return [...rows, ...contents.flatMap(({ content }) => unpackRows(content).invocations)].flatMap(
        ({ step_id, step_index, started_at, finished_at }): StepTime[] =>
          started_at === null || finished_at === null
            ? []
            : [
                {
                  stepId: step_id,
                  index: step_index,
                  ms: toDate(finished_at).getTime() - toDate(started_at).getTime(),
                },
              ],
      );
    },

    async deliveries({ status, event, before, limit }) {
      const rows = await db
        .selectFrom('deliveries')
        .selectAll()
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'received'))
        .$if(event !== undefined, (query) => query.where('event', '=', event ?? ''))
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      const above = rows.length < limit ? 0 : (rows.at(-1)?.id ?? 0);
      const hasArchived = status === undefined || status === 'done';
      const archived = hasArchived
        ? await newestArchived(db, above, limit, () => {}, { below: before, archives: 4 })
        : [];
      const fits = archived.filter(
        (row) => (before === undefined || row.id < before) && (event === undefined || row.event === event),
      );
      return [...rows, ...fits]
        .toSorted((a, b) => b.id - a.id)
        .slice(0, limit)
        .map(summary);
    },

    async effects({ status, before, limit }) {
      const rows = await db
        .selectFrom('effects')
        .select(['id', 'key', 'status', 'attempts', 'error', 'run_id', 'updated_at'])
        .select(sql<string>`json_extract(effect_json, '$.kind')`.as('kind'))
        .where('status', '=', status)
        .$if(before !== undefined, (query) =>
          query.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('updated_at', 'id'), '<', tuple(toText(before?.at ?? new Date(0)), before?.id ?? '')),
          ),
        )
        .orderBy('updated_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ run_id, updated_at, ...row }) => ({
        ...row,
        runId: run_id,
        updatedAt: toDate(updated_at),
      }));
    },

    async jobs(now, most) {
      const at = toText(now);
      const rows = await db
        .selectFrom((some) => some.selectFrom('jobs').selectAll().orderBy('id').limit(most).as('some'))
        .select('kind')
        .select([
          sql<number>`sum(lease_token IS NULL AND run_at <= ${at})`.as('due'),
          sql<number>`sum(lease_token IS NOT NULL)`.as('held'),
          sql<number>`sum(lease_token IS NULL AND run_at > ${at})`.as('later'),
          sql<number>`sum(attempts > 0)`.as('retried'),
          sql<string | null>`min(CASE WHEN lease_token IS NOT NULL OR run_at <= ${at} THEN run_at END)`.as(
            'oldest',
          ),
        ])
        .groupBy('kind')
        .orderBy('kind')
        .execute();
      return rows.map((row) => ({ ...row, oldest: toDateOrNull(row.oldest) }));
    },

    async modelDays(since) {
      return db
        .selectFrom('model_calls')
        .select('model')
        .select(({ fn }) => [
          sql<string>`substr(started_at, 1, 10)`.as('day'),
          fn.countAll<number>().as('calls'),
          sql<number>`sum(error IS NOT NULL)`.as('failed'),
          fn.sum<number>('tokens').as('tokens'),
          sql<number>`sum(ifnull(cost, 0))`.as('cost'),
          sql<number>`sum(cost IS NULL)`.as('unpriced'),
        ])
        .where('started_at', '>=', toText(since))
        .groupBy(['day', 'model'])
        .orderBy('day', 'desc')
        .orderBy('model')
        .execute();
    },

    async skills(visible, newest) {
      const rows = await db
        .selectFrom((some) =>
          some
            .selectFrom('skill_execution_traces')
            .selectAll()
            .orderBy('id', 'desc')
            .limit(newest)
            .as('some'),
        )
        .leftJoin('chain_runs', 'chain_runs.id', 'some.run_id')
        .leftJoin('skill_calls', 'skill_calls.id', 'some.call_id')
        .select('some.skill')
        .select(({ fn }) => [
          fn.countAll<number>().as('traces'),
          sql<number>`sum(some.error IS NOT NULL)`.as('failed'),
          sql<number>`sum(ifnull(some.tokens_in, 0) + ifnull(some.tokens_out, 0))`.as('tokens'),
          sql<number>`sum(ifnull(some.cost, 0))`.as('cost'),
          fn.max('some.completed_at').as('last_at'),
        ])
        .where(isVisible('coalesce(chain_runs.repository_id, skill_calls.repository_id)', visible))
        .groupBy('some.skill')
        .orderBy('some.skill')
        .execute();
      return rows.map(({ last_at, ...row }) => ({ ...row, lastAt: toDate(last_at) }));
    },

    async tracesOf(visible, skill, limit) {
      const rows = await db
        .selectFrom('skill_execution_traces as some')
        .leftJoin('chain_runs', 'chain_runs.id', 'some.run_id')
        .leftJoin('skill_calls', 'skill_calls.id', 'some.call_id')
        .select(['some.id', 'some.skill_id', 'some.artifact', 'some.kind', 'some.error', 'some.run_id'])
        .select(['some.started_at', 'some.completed_at', 'some.model', 'some.cost'])
        .select(sql<string>`coalesce(chain_runs.repository, skill_calls.repository, '')`.as('repository'))
        .where('some.skill', '=', skill)
        .where(isVisible('coalesce(chain_runs.repository_id, skill_calls.repository_id)', visible))
        .orderBy('some.id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ skill_id, run_id, started_at, completed_at, ...row }) => ({
        ...row,
        skillId: skill_id,
        runId: run_id,
        startedAt: toDate(started_at),
        completedAt: toDate(completed_at),
      }));
    },

    async versionsOf(skill, ids) {
      const rows = await db
        .selectFrom('skills')
        .select(['id', 'version', 'source', 'marketplace_id', 'created_at'])
        .where('name', '=', skill)
        .where(({ eb, or }) => or([eb('source', '!=', 'user'), eb('id', 'in', [...ids, ''])]))
        .orderBy('created_at', 'desc')
        .limit(50)
        .execute();
      return rows.map(({ marketplace_id, created_at, ...row }) => ({
        ...row,
        index: marketplace_id,
        createdAt: toDate(created_at),
      }));
    },
  };
}

/** One bound value, however many repositories somebody sees. */
function isVisible(column: string, { ids }: Visible) {
  if (ids === undefined) return sql<SqlBool>`true`;
  return sql<SqlBool>`${sql.raw(column)} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}
