import type { Kysely, Selectable } from 'kysely';
import type { DryRunEnd, ShownStep, StoredDryRun, StoredDryRuns } from '../../ports/dry-runs.ts';
import { parseJson, reading, toDate, toDateOrNull, toText } from './columns.ts';
import type { Database, DryRunsTable } from './schema.ts';

export function dryRunsTable(db: Kysely<Database>): StoredDryRuns {
  /** Of one that has not ended. */
  const change = (id: string) =>
    db
      .updateTable('dry_runs')
      .set((eb) => ({ changes: eb('changes', '+', 1) }))
      .where('id', '=', id)
      .where('ended_at', 'is', null);

  return {
    async insert({ id, personId, repositoryId, repository, pullRequest, chain, isPasted, begunAt }) {
      await db
        .insertInto('dry_runs')
        .values({
          id,
          person_id: personId,
          repository_id: repositoryId,
          repository,
          pull_request: pullRequest,
          chain,
          is_pasted: isPasted ? 1 : 0,
          begun_at: toText(begunAt),
          steps_json: '[]',
          changes: 0,
          stops: 0,
          end_json: null,
          ended_at: null,
        })
        .execute();
    },

    async get(id) {
      const row = await db.selectFrom('dry_runs').selectAll().where('id', '=', id).executeTakeFirst();
      return row && dryRunIn(row);
    },

    async underWay(personId, begunAfter) {
      const row = await db
        .selectFrom('dry_runs')
        .select('id')
        .where('begun_at', '>', toText(begunAfter))
        .where('person_id', '=', personId)
        .where('ended_at', 'is', null)
        .executeTakeFirst();
      return row?.id;
    },

    async changeSteps(id, steps) {
      await change(id)
        .set({ steps_json: JSON.stringify(steps) })
        .execute();
    },

    async end(id, end, at) {
      await change(id)
        .set({ steps_json: '[]', end_json: JSON.stringify(end), ended_at: toText(at) })
        .execute();
    },

    async askToStop(id) {
      await db.updateTable('dry_runs').set({ stops: 1 }).where('id', '=', id).execute();
    },

    async askedToStop(ids) {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('dry_runs')
        .select('id')
        .where('id', 'in', ids)
        .where('stops', '=', 1)
        .execute();
      return rows.map(({ id }) => id);
    },

    async removeBefore(begunAt) {
      await db.deleteFrom('dry_runs').where('begun_at', '<', toText(begunAt)).execute();
    },

    async removeBeyond({ most, characters }) {
      const ended = await db
        .selectFrom('dry_runs')
        .select((eb) => ['id', eb.fn<number>('length', ['end_json']).as('length')])
        .where('ended_at', 'is not', null)
        .orderBy('begun_at', 'desc')
        .orderBy('id')
        .execute();
      let left = characters;
      const tooMany = ended.filter(({ length }, at) => {
        left -= length;
        return at >= most || left < 0;
      });
      if (tooMany.length === 0) return;
      await db
        .deleteFrom('dry_runs')
        .where(
          'id',
          'in',
          tooMany.map(({ id }) => id),
        )
        .execute();
    },
  };
}

function dryRunIn(row: Selectable<DryRunsTable>): StoredDryRun {
  return reading('dry_runs', row.id, () => ({
    id: row.id,
    personId: row.person_id,
    repositoryId: row.repository_id,
    repository: row.repository,
    pullRequest: row.pull_request,
    chain: row.chain,
    isPasted: row.is_pasted === 1,
    begunAt: toDate(row.begun_at),
    steps: parseJson<ShownStep[]>(row.steps_json),
    changes: row.changes,
    end: row.end_json === null ? null : parseJson<DryRunEnd>(row.end_json),
    endedAt: toDateOrNull(row.ended_at),
  }));
}
