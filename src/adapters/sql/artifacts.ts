import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { isRunOver, RUN_STATUSES } from '../../domain/run/run.ts';
import type { Artifacts } from '../../ports/storage.ts';
import { reading, toDate, toText } from './columns.ts';
import { insertOnceCompiled } from './insert.ts';
import { unpackJson } from './packed-json.ts';
import type { ArtifactsTable, Database } from './schema.ts';

const ENDED = RUN_STATUSES.filter(isRunOver);

const insertArtifacts = insertOnceCompiled((db, rows: readonly Insertable<ArtifactsTable>[]) =>
  db.insertInto('artifacts').values(rows),
);

export function artifactsTable(db: Kysely<Database>): Artifacts {
  return {
    async insert(artifact) {
      await insertArtifacts(db, [
        {
          id: artifact.id,
          run_id: artifact.runId,
          invocation_id: artifact.invocationId,
          session_id: artifact.sessionId,
          created_at: toText(artifact.createdAt),
          kind: artifact.kind,
          name: artifact.name,
          content: artifact.content,
          file_path: artifact.filePath,
        },
      ]);
    },

    async ofRun(runId) {
      const rows = await db
        .selectFrom('artifacts')
        .selectAll()
        .where('run_id', '=', runId)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(artifactOf);
    },

    async get(id) {
      const row = await db.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
      return row && artifactOf(row);
    },

    async page({ after, limit, runOverBefore }) {
      let query = db.selectFrom('artifacts').selectAll().where('id', '>', after).orderBy('id').limit(limit);
      if (runOverBefore !== undefined) {
        // EXISTS per artifact: with a join, SQLite might start at the runs and read all of them for every
        // page.
        query = query.where(({ exists, selectFrom }) =>
          exists(
            selectFrom('chain_runs')
              .select('chain_runs.id')
              .whereRef('chain_runs.id', '=', 'artifacts.run_id')
              .where('chain_runs.status', 'in', ENDED)
              .where(
                ({ fn, ref }) => fn.coalesce(ref('chain_runs.finished_at'), ref('chain_runs.updated_at')),
                '<',
                toText(runOverBefore),
              ),
          ),
        );
      }
      return (await query.execute()).map(artifactOf);
    },

    async remove(ids) {
      if (ids.length > 0) await db.deleteFrom('artifacts').where('id', 'in', ids).execute();
    },
  };
}

function artifactOf(row: Selectable<ArtifactsTable>): Artifact {
  return reading('artifacts', row.id, () => ({
    id: row.id,
    runId: row.run_id,
    invocationId: row.invocation_id,
    sessionId: row.session_id,
    createdAt: toDate(row.created_at),
    kind: row.kind,
    name: row.name,
    content: row.content && unpackJson(row.content),
    filePath: row.file_path,
  }));
}
