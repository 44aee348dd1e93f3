import { type Kysely, type Selectable, sql } from 'kysely';
import { contentHash } from '../../core/canonical.ts';
import {
  EFFECT_STATUSES,
  type EffectRow,
  effectProgressSchema,
  effectSchema,
} from '../../domain/effect/effect.ts';
import type { Effects } from '../../ports/storage.ts';
import { fromJson, mustExist, reading, toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import type { Database, EffectsTable } from './schema.ts';
import { statusCounts } from './status-counts.ts';

interface UpsertParams {
  id: string;
  key: string;
  effect_json: string;
  wished_hash: string;
  run_id: string | null;
  at: string;
  /** A failed effect whose `rests_until` is at most this is requested again. */
  rested_by: string;
}

/** Later than any stored time. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

const upsertDesired = compiledOnce(
  (db, { id, key, effect_json, wished_hash, run_id, at, rested_by }: UpsertParams) =>
    db
      .insertInto('effects')
      .values({
        id,
        key,
        effect_json,
        wished_hash,
        run_id,
        applied_hash: null,
        status: 'pending',
        github_id: null,
        begun: 0,
        progress_json: '{}',
        attempts: 0,
        error: null,
        created_at: at,
        updated_at: at,
      })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet((eb) => ({
            effect_json: eb.ref('excluded.effect_json'),
            wished_hash: eb.ref('excluded.wished_hash'),
            run_id: eb.ref('excluded.run_id'),
            updated_at: eb.ref('excluded.updated_at'),
            status: eb
              .case()
              .when('effects.applied_hash', '=', eb.ref('excluded.wished_hash'))
              .then('done' as const)
              .else('pending' as const)
              .end(),
            attempts: 0,
            error: null,
          }))
          // No match, so no change and no new job, in two cases: a pending effect of the same run already has
          // a job, and keeps its attempts; a refused effect stays refused, or every poll would ask GitHub
          // again. An effect without changes is set to done.
          .where((eb) => {
            const restsUntil = eb.fn<string | null>('json_extract', [
              'effects.progress_json',
              eb.val('$.rests_until'),
            ]);
            const rests = eb.and([
              eb('effects.status', '=', 'failed'),
              eb(eb.fn.coalesce(restsUntil, eb.val('')), '>', rested_by),
            ]);
            return eb.or([
              eb('effects.applied_hash', '=', eb.ref('excluded.wished_hash')),
              eb('effects.wished_hash', '<>', eb.ref('excluded.wished_hash')),
              eb.and([
                eb.not(rests),
                eb.or([
                  eb('effects.status', '<>', 'pending'),
                  eb('effects.run_id', 'is distinct from', eb.ref('excluded.run_id')),
                ]),
              ]),
            ]);
          }),
      )
      .returning('status'),
);

const byKey = compiledOnce((db, { key }: { key: string }) =>
  db.selectFrom('effects').selectAll().where('key', '=', key),
);

export function effectsTable(db: Kysely<Database>): Effects {
  return {
    async request({ id, key, effect, runId, at, anew = false }) {
      const { rows } = await upsertDesired(db, {
        id,
        key,
        effect_json: JSON.stringify(effect),
        wished_hash: contentHash(effect),
        run_id: runId,
        at: toText(at),
        rested_by: anew ? END_OF_TIME : toText(at),
      });
      return rows[0]?.status === 'pending';
    },

    async get(key) {
      const { rows } = await byKey(db, { key });
      return rows[0] && effectOf(rows[0]);
    },

    async saveProgress(row) {
      const saved = await db
        .updateTable('effects')
        .set((eb) => ({
          applied_hash: row.appliedHash,
          // The executed effect may no longer be the desired one; then it is not done.
          status:
            row.status === 'done'
              ? eb
                  .case()
                  .when('wished_hash', '=', row.appliedHash)
                  .then('done' as const)
                  .else('pending' as const)
                  .end()
              : row.status,
          github_id: row.githubId,
          begun: row.begun ? 1 : 0,
          progress_json: JSON.stringify(row.progress),
          attempts: row.attempts,
          error: row.error,
          updated_at: toText(row.updatedAt),
        }))
        .where('key', '=', row.key)
        .returning('status')
        .executeTakeFirst();
      mustExist(saved !== undefined, 'effects', row.key);
      return saved?.status === 'pending';
    },

    async ofRun(runId) {
      const rows = await db
        .selectFrom('effects')
        .selectAll()
        .where('run_id', '=', runId)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(effectOf);
    },

    async mergesSent(repositoryId, pullRequest) {
      const rows = await db
        .selectFrom('chain_runs')
        .innerJoin('effects', 'effects.run_id', 'chain_runs.id')
        .selectAll('effects')
        .where('chain_runs.repository_id', '=', repositoryId)
        .where('chain_runs.pull_request', '=', pullRequest)
        .where('effects.key', 'like', 'merge:%')
        .where('effects.begun', '=', 1)
        .orderBy('effects.created_at')
        .orderBy('effects.id')
        .execute();
      return rows.map(effectOf);
    },

    async gatesToClose(installationId) {
      const rows = await db
        .selectFrom('effects')
        .select('key')
        .where('status', 'in', ['pending', 'failed'])
        .where('key', 'like', 'gate_check:%')
        .where('applied_hash', 'is', null)
        .where(sql<number>`json_extract(progress_json, '$.concluded')`, '=', 1)
        .where(sql<number>`json_extract(effect_json, '$.installation_id')`, '=', installationId)
        .orderBy('key')
        .execute();
      return rows.map(({ key }) => key);
    },

    async list({ status, limit }) {
      const query = db
        .selectFrom('effects')
        .selectAll()
        .orderBy('updated_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      const rows = await (status === undefined ? query : query.where('status', '=', status)).execute();
      return rows.map(effectOf);
    },

    countByStatus: () => statusCounts(db, 'effect', EFFECT_STATUSES),
  };
}

function effectOf(row: Selectable<EffectsTable>): EffectRow {
  return reading('effects', row.id, () => ({
    id: row.id,
    key: row.key,
    effect: fromJson(effectSchema, row.effect_json),
    desiredHash: row.wished_hash,
    appliedHash: row.applied_hash,
    status: row.status,
    githubId: row.github_id,
    begun: row.begun === 1,
    progress: fromJson(effectProgressSchema, row.progress_json),
    attempts: row.attempts,
    error: row.error,
    runId: row.run_id,
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
  }));
}
