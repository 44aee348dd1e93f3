import { type Kysely, sql } from 'kysely';
import type { Firing, Firings, Schedules } from '../../ports/firings.ts';
import { parseJson, toDate, toText } from './columns.ts';
import type { Database, FiringsTable } from './schema.ts';
import { visibleIn } from './visible-in.ts';

export function schedulesTable(db: Kysely<Database>): Schedules {
  return {
    async ofRepository(repositoryId) {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .where('repository_id', '=', repositoryId)
        .execute();
      return rows.map(scheduleIn);
    },

    async due(now, limit) {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .where('next_at', '<=', toText(now))
        .orderBy('next_at')
        .limit(limit)
        .execute();
      return rows.map(scheduleIn);
    },

    async upcoming(limit, of) {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .$if(of !== undefined, (query) => query.where('chain', '=', of?.chain ?? ''))
        .where(visibleIn(of?.visible ?? { ids: undefined }, sql.ref('repository_id')))
        .orderBy('next_at')
        .limit(limit)
        .execute();
      return rows.map(scheduleIn);
    },

    async nextAt() {
      const first = await db
        .selectFrom('schedules')
        .select('next_at')
        .orderBy('next_at')
        .limit(1)
        .executeTakeFirst();
      return first && toDate(first.next_at);
    },

    async put(row) {
      const changing = {
        installation_id: row.installationId,
        repository: row.repository,
        schedule_json: JSON.stringify(row.schedule),
        next_at: toText(row.nextAt),
      };
      await db
        .insertInto('schedules')
        .values({ repository_id: row.repositoryId, chain: row.chain, trigger: row.trigger, ...changing })
        .onConflict((conflict) =>
          conflict.columns(['repository_id', 'chain', 'trigger']).doUpdateSet(changing),
        )
        .execute();
    },

    async remove({ repositoryId, chain, trigger }) {
      await db
        .deleteFrom('schedules')
        .where('repository_id', '=', repositoryId)
        .where('chain', '=', chain)
        .where('trigger', '=', trigger)
        .execute();
    },
  };
}

function scheduleIn(row: Database['schedules']) {
  return {
    repositoryId: row.repository_id,
    chain: row.chain,
    trigger: row.trigger,
    installationId: row.installation_id,
    repository: row.repository,
    schedule: parseJson<Awaited<ReturnType<Schedules['due']>>[number]['schedule']>(row.schedule_json),
    nextAt: toDate(row.next_at),
  };
}

export function firingsTable(db: Kysely<Database>): Firings {
  return {
    async insert(firing) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('firings')
        .values(rowOf(firing))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async get(id) {
      const row = await db.selectFrom('firings').selectAll().where('id', '=', id).executeTakeFirst();
      return row && firingIn(row);
    },

    async save(firing) {
      await db.updateTable('firings').set(rowOf(firing)).where('id', '=', firing.id).execute();
    },

    async queued({ repositoryId, chain }) {
      const rows = await db
        .selectFrom('firings')
        .selectAll()
        .where('status', '=', 'queued')
        .where('repository_id', '=', repositoryId)
        .where('chain', '=', chain)
        .orderBy('due_at')
        .execute();
      return rows.map(firingIn);
    },

    async list({ repository, of, chain, status, runIds, limit }) {
      let query = db.selectFrom('firings').selectAll();
      if (repository !== undefined) query = query.where('repository', '=', repository);
      if (of !== undefined)
        query = query.where('repository_id', '=', of.repositoryId).where('pull_request', '=', of.pullRequest);
      if (chain !== undefined) query = query.where('chain', '=', chain);
      if (status !== undefined) query = query.where('status', '=', status);
      if (runIds !== undefined) query = query.where('run_id', 'in', runIds);
      const rows = await query.orderBy('due_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
      return rows.map(firingIn);
    },

    counts: () => db.selectFrom('firing_counts').selectAll().where('count', '>', 0).execute(),
  };
}

function rowOf(firing: Firing): FiringsTable {
  return {
    id: firing.id,
    repository_id: firing.repositoryId,
    chain: firing.chain,
    trigger: firing.trigger,
    occasion: firing.occasion,
    installation_id: firing.installationId,
    repository: firing.repository,
    status: firing.status,
    reason: firing.reason,
    summary: firing.summary,
    count: firing.count,
    run_id: firing.runId,
    pull_request: firing.pullRequest,
    due_at: toText(firing.dueAt),
    updated_at: toText(firing.updatedAt),
  };
}

function firingIn(row: FiringsTable): Firing {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    chain: row.chain,
    trigger: row.trigger,
    occasion: row.occasion,
    installationId: row.installation_id,
    repository: row.repository,
    status: row.status,
    reason: row.reason,
    summary: row.summary,
    count: row.count,
    runId: row.run_id,
    pullRequest: row.pull_request,
    dueAt: toDate(row.due_at),
    updatedAt: toDate(row.updated_at),
  };
}
