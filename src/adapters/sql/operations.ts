import { type Kysely, sql } from 'kysely';
import { memberOf } from '../../core/mapping.ts';
import type { RunStatus } from '../../domain/run/run.ts';
import type { ChainUse, Operations, StepTime } from '../../ports/operations.ts';
import { unpackRows } from './archives.ts';
import { parseJson, toDate, toDateOrNull, toText } from './columns.ts';
import { summary } from './deliveries.ts';
import { archivedByGuid, archivedById } from './delivery-archives.ts';
import { searchDeliveries } from './delivery-search.ts';
import { caseless, like, pairs } from './dialect.ts';
import { ENDED_STATUSES } from './run-statuses.ts';
import type { Database } from './schema.ts';
import { visibleIn } from './visible-in.ts';

/** Repositories and chains of one page. */
const MOST_CHAINS = 500;

export function operationsTable(db: Kysely<Database>): Operations {
  return {
    async chains(visible, { names, repository, text, after, limit = MOST_CHAINS }) {
      const words = text === undefined ? undefined : `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
      // From what triggers keep, so that what this costs does not depend on how many runs there are.
      const newest = await db
        .selectFrom('newest_of_chains as n')
        .innerJoin('chain_runs as r', 'r.id', 'n.run_id')
        .select(['n.chain', 'n.repository_id', 'n.run_id', 'n.begun_at', 'r.repository'])
        .where(visibleIn(visible, sql.ref('n.repository_id')))
        .$if(names !== undefined, (query) => query.where('n.chain', 'in', [...(names ?? [])]))
        .$if(repository !== undefined, (query) =>
          query.where(sql<boolean>`${caseless(sql.ref('r.repository'))} = ${caseless(sql`${repository}`)}`),
        )
        .$if(words !== undefined, (query) =>
          query.where(
            sql<boolean>`(${like(sql.ref('n.chain'), words ?? '')} OR ${like(sql.ref('r.repository'), words ?? '')})`,
          ),
        )
        .$if(after !== undefined, (query) =>
          query.where(
            sql<boolean>`(n.begun_at, n.run_id) < (${toText(after?.at ?? new Date(0))}, ${after?.id ?? ''})`,
          ),
        )
        .orderBy('n.begun_at', 'desc')
        .orderBy('n.run_id', 'desc')
        .limit(Math.min(limit, MOST_CHAINS))
        .execute();
      const wanted = pairs(newest.map(({ chain, repository_id }) => [chain, repository_id]));
      const counts = await sql<{ chain: string; repository_id: number; status: RunStatus; runs: number }>`
        SELECT c.chain, c.repository_id, c.status, c.runs
          FROM ${wanted.rows}
          JOIN chain_counts AS c ON c.chain = ${wanted.text} AND c.repository_id = ${wanted.number}
          WHERE c.runs > 0`.execute(db);
      const groups = Map.groupBy(counts.rows, ({ repository_id, chain }) => `${repository_id} ${chain}`);
      return newest.map((one): ChainUse => {
        const rows = groups.get(`${one.repository_id} ${one.chain}`) ?? [];
        return {
          chain: one.chain,
          repositoryId: one.repository_id,
          repository: one.repository,
          runs: Object.fromEntries(rows.map(({ status, runs }) => [status, runs])),
          newest: { id: one.run_id, at: toDate(one.begun_at) },
        };
      });
    },

    async repositories(visible) {
      const rows = await db
        .selectFrom('newest_of_chains as n')
        .innerJoin('chain_runs as r', 'r.id', 'n.run_id')
        .select('r.repository')
        .distinct()
        .where(visibleIn(visible, sql.ref('n.repository_id')))
        .execute();
      return rows.map(({ repository }) => repository);
    },

    async stepTimes(visible, chain, most) {
      const runs = await db
        .selectFrom('chain_runs')
        .select(['id', 'archive_id'])
        .where('chain', '=', chain)
        .where('status', 'in', ENDED_STATUSES)
        .where(visibleIn(visible, sql.ref('repository_id')))
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

    deliveries: (search) => searchDeliveries(db, search),

    async delivery(by) {
      const rows = db.selectFrom('deliveries').selectAll();
      const row =
        'id' in by
          ? ((await rows.where('id', '=', by.id).executeTakeFirst()) ?? (await archivedById(db, by.id)))
          : ((await rows.where('guid', '=', by.guid).executeTakeFirst()) ??
            (await archivedByGuid(db, [by.guid])).at(0));
      if (!row) return undefined;
      const body = await db
        .selectFrom('delivery_bodies')
        .select('length')
        .where('delivery_id', '=', row.id)
        .executeTakeFirst();
      return { ...summary(row), bodyBytes: body?.length ?? null };
    },

    async jobOfDelivery(deliveryId, most) {
      const job = await db
        .selectFrom((some) => some.selectFrom('jobs').selectAll().orderBy('id').limit(most).as('some'))
        .select(['run_at', 'attempts', 'away_since', 'lease_token'])
        .where('kind', '=', 'delivery')
        .where('payload', '=', JSON.stringify({ deliveryId }))
        .limit(1)
        .executeTakeFirst();
      return (
        job && {
          at: toDate(job.run_at),
          attempts: job.attempts,
          outageSince: toDateOrNull(job.away_since),
          isHeld: job.lease_token !== null,
        }
      );
    },

    async effects({ status, before, limit }) {
      const rows = await db
        .selectFrom('effects')
        .select(['id', 'key', 'status', 'attempts', 'error', 'run_id', 'updated_at', 'effect_json'])
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
      return rows.map(({ run_id, updated_at, effect_json, ...row }) => ({
        ...row,
        // The text may be packed, so a database cannot look into it.
        kind: String(memberOf(parseJson(effect_json), 'kind')),
        runId: run_id,
        updatedAt: toDate(updated_at),
      }));
    },

    async jobs(now, most) {
      const at = toText(now);
      const rows = await db
        .selectFrom((some) => some.selectFrom('jobs').selectAll().orderBy('id').limit(most).as('some'))
        .select('kind')
        .select(({ eb, fn, or }) => {
          const isHeld = eb('lease_token', 'is not', null);
          const isFree = eb('lease_token', 'is', null);
          const isDue = eb('run_at', '<=', at);
          return [
            fn.countAll<number>().filterWhere(isFree.and(isDue)).as('due'),
            fn.countAll<number>().filterWhere(isHeld).as('held'),
            fn
              .countAll<number>()
              .filterWhere(isFree.and('run_at', '>', at))
              .as('later'),
            fn.countAll<number>().filterWhere('attempts', '>', 0).as('retried'),
            fn.countAll<number>().filterWhere('away_since', 'is not', null).as('outage'),
            fn
              .min<string | null>('run_at')
              .filterWhere(or([isHeld, isDue]))
              .as('oldest'),
          ];
        })
        .groupBy('kind')
        .orderBy('kind')
        .execute();
      return rows.map((row) => ({ ...row, oldest: toDateOrNull(row.oldest) }));
    },

    async owners(newest) {
      const rows = await db
        .selectFrom('chain_runs')
        .select(['installation_id', 'repository'])
        .orderBy('created_at', 'desc')
        .limit(newest)
        .execute();
      // The newest of each comes last and stays.
      return new Map(
        rows.reverse().map(({ installation_id, repository }) => [installation_id, ownerOf(repository)]),
      );
    },

    async modelDays(today, days) {
      const midnights = Array.from({ length: days }, (_, ago) => midnight(today, ago));
      return db
        .selectFrom('model_calls')
        .select('model')
        .select(({ eb, fn }) => [
          // Comparisons, because databases disagree on how a day is cut out of a time.
          midnights
            .slice(1)
            .reduce(
              (known, from) => known.when('started_at', '>=', toText(from)).then(dayOf(from)),
              eb
                .case()
                .when('started_at', '>=', toText(midnight(today, 0)))
                .then(dayOf(today)),
            )
            .end()
            .$castTo<string>()
            .as('day'),
          fn.countAll<number>().as('calls'),
          fn.countAll<number>().filterWhere('error', 'is not', null).as('failed'),
          fn.sum<number>('tokens').as('tokens'),
          fn.sum<number>(fn.coalesce('cost', eb.lit(0))).as('cost'),
          fn.countAll<number>().filterWhere('cost', 'is', null).as('unpriced'),
        ])
        .where('started_at', '>=', toText(midnights.at(-1) ?? today))
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
          fn.countAll<number>().filterWhere('some.error', 'is not', null).as('failed'),
          sql<number>`sum(coalesce("some".tokens_in, 0) + coalesce("some".tokens_out, 0))`.as('tokens'),
          sql<number>`sum(coalesce("some".cost, 0))`.as('cost'),
          fn.max('some.completed_at').as('last_at'),
        ])
        .where(visibleIn(visible, ofEither('repository_id')))
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
        .where(visibleIn(visible, ofEither('repository_id')))
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

const DAY_MS = 86_400_000;

/** The beginning of a day in UTC, so many days ago. */
function midnight(today: Date, ago: number): Date {
  return new Date(Math.floor(today.getTime() / DAY_MS - ago) * DAY_MS);
}

/** `2026-03-01` */
function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** A trace is of a run, or of a call on the command line. */
function ofEither(column: 'repository_id') {
  return sql`coalesce(${sql.ref(`chain_runs.${column}`)}, ${sql.ref(`skill_calls.${column}`)})`;
}

function ownerOf(repository: string): string {
  return repository.split('/', 1)[0] ?? '';
}
