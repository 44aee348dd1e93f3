import type { Kysely, Selectable } from 'kysely';
import type { Artifact } from '../../artifact/artifact.ts';
import type { Artifacts } from '../storage.ts';
import { reading, toDate, toText } from './columns.ts';
import type { ArtifactsTable, Database } from './schema.ts';

export function artifactsTable(db: Kysely<Database>): Artifacts {
  return {
    async insert(artifact) {
      await db
        .insertInto('artifacts')
        .values({
          id: artifact.id,
          run_id: artifact.runId,
          invocation_id: artifact.invocationId,
          session_id: artifact.sessionId,
          created_at: toText(artifact.createdAt),
          kind: artifact.kind,
          name: artifact.name,
          content: artifact.content,
          file_path: artifact.filePath,
        })
        .execute();
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
    content: row.content,
    filePath: row.file_path,
  }));
}
