import type { Insertable, Kysely, Selectable } from 'kysely';
import { memberOf } from '../../core/mapping.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import type { ArtifactFilter, Artifacts, OnDamaged } from '../../ports/storage.ts';
import { type Archives, byTime, newestOf } from './archives.ts';
import { resultOf } from './artifact-results.ts';
import { searchArtifacts } from './artifact-search.ts';
import { parseJson, readable, reading, toDate, toText } from './columns.ts';
import { insertOnceCompiled } from './insert.ts';
import { unpackJson } from './packed-json.ts';
import { ENDED_STATUSES } from './run-statuses.ts';
import type { ArtifactsTable, Database } from './schema.ts';

type Row = Selectable<ArtifactsTable>;

const insertArtifacts = insertOnceCompiled((db, rows: readonly Insertable<ArtifactsTable>[]) =>
  db.insertInto('artifacts').values(rows),
);

export function artifactsTable(db: Kysely<Database>, archives: Archives): Artifacts {
  return {
    async insert(...artifacts) {
      await insertArtifacts(
        db,
        artifacts.map((artifact) => ({
          id: artifact.id,
          run_id: artifact.runId,
          invocation_id: artifact.invocationId,
          session_id: artifact.sessionId,
          created_at: toText(artifact.createdAt),
          kind: artifact.kind,
          name: artifact.name,
          content: artifact.content,
          file_path: artifact.filePath,
          result: resultOf(artifact.content),
        })),
      );
    },

    search: (search) => searchArtifacts(db, search),

    async ofRun(runId, part) {
      const rows = await db
        .selectFrom('artifacts')
        .selectAll()
        .where('run_id', '=', runId)
        .$if(part !== undefined, (query) => query.where('invocation_id', '=', part?.invocationId ?? ''))
        .$if(part?.kind !== undefined, (query) => query.where('kind', '=', part?.kind ?? ''))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .$if(part !== undefined, (query) => query.limit(part?.newest ?? 0))
        .execute();
      const archived = ((await archives.ofRun(runId))?.artifacts ?? []).filter(
        ({ invocation_id, kind }) =>
          part === undefined ||
          (invocation_id === part.invocationId && (part.kind === undefined || kind === part.kind)),
      );
      const all = [...byTime(archived, ({ created_at }) => created_at), ...rows.reverse()];
      return newestOf(all, part?.newest).map(artifactOf);
    },

    async get(id) {
      const row = await db.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
      if (row) return artifactOf(row);
      const { found, restored } = await archives.withKeys([id]);
      if (restored) return this.get(id);
      const archived = found.flatMap(({ artifacts }) => artifacts).find((one) => one.id === id);
      return archived && artifactOf(archived);
    },

    async list(filter, onDamaged) {
      const live = await liveOf(filter, onDamaged);
      const all = [...live, ...(await archivedOf(filter, live, onDamaged))];
      return newestFirst(all).slice(0, filter.limit);
    },

    async page({ after, limit, runOverBefore }) {
      const archive = after === '' ? undefined : await archives.withArtifact(after);
      const rows = archive === undefined ? await stored(after, limit, runOverBefore) : [];
      return rows.length > 0 ? rows : archived(archive ?? 0, limit, runOverBefore);
    },

    async remove(ids) {
      if (ids.length === 0) return;
      await archives.withKeys(ids);
      await db.deleteFrom('artifacts').where('id', 'in', ids).execute();
    },
  };

  async function liveOf(
    { runId, kind, since, failed, limit }: ArtifactFilter,
    onDamaged: OnDamaged | undefined,
  ): Promise<Artifact[]> {
    let query = db.selectFrom('artifacts').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
    if (runId !== undefined) query = query.where('run_id', '=', runId);
    if (kind !== undefined) query = query.where('kind', '=', kind);
    if (since !== undefined) query = query.where('created_at', '>=', toText(since));
    const found: Artifact[] = [];
    for (let offset = 0; found.length < limit; offset += LIST_PAGE) {
      const rows = await query.limit(LIST_PAGE).offset(offset).execute();
      const read = await Promise.all(rows.map((row) => readable(() => artifactOf(row), onDamaged)));
      const page = read.filter((one) => one !== undefined);
      // The content may be packed, so a database cannot look into it.
      found.push(...(failed ? page.filter(hasFailed) : page));
      if (rows.length < LIST_PAGE) break;
    }
    return found;
  }

  /** Archives are read by the ends of their runs, newest first: no artifact is younger than the end of its run. */
  async function archivedOf(
    filter: ArtifactFilter,
    live: readonly Artifact[],
    onDamaged: OnDamaged | undefined,
  ): Promise<Artifact[]> {
    const { runId, kind, since, failed, limit } = filter;
    let query = db
      .selectFrom('chain_runs')
      .select(['id', 'archive_id', 'finished_at'])
      .where('archive_id', 'is not', null)
      .orderBy('finished_at', 'desc')
      .orderBy('id', 'desc');
    if (runId !== undefined) query = query.where('id', '=', runId);
    if (since !== undefined) query = query.where('finished_at', '>=', toText(since));
    const found: Artifact[] = [];
    for (let offset = 0; ; offset += LIST_PAGE) {
      const runs = await query.limit(LIST_PAGE).offset(offset).execute();
      for (const { id, archive_id, finished_at } of runs) {
        const last = newestFirst([...live, ...found])[limit - 1];
        if (last && finished_at !== null && toText(last.createdAt) >= finished_at) return found;
        const rows =
          archive_id === null ? undefined : await readable(() => archives.peek(archive_id), onDamaged);
        const wanted = (rows?.artifacts ?? [])
          .filter((row) => row.run_id === id && (kind === undefined || row.kind === kind))
          .map(artifactOf)
          .filter(({ createdAt }) => since === undefined || createdAt >= since);
        found.push(...(failed ? wanted.filter(hasFailed) : wanted));
      }
      if (runs.length < LIST_PAGE) return found;
    }
  }

  async function stored(after: string, limit: number, runOverBefore: Date | undefined): Promise<Artifact[]> {
    let query = db.selectFrom('artifacts').selectAll().where('id', '>', after).orderBy('id').limit(limit);
    if (runOverBefore !== undefined) {
      // EXISTS per artifact: with a join, SQLite might start at the runs and read all of them for every
      // page.
      query = query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('chain_runs')
            .select('chain_runs.id')
            .whereRef('chain_runs.id', '=', 'artifacts.run_id')
            .where('chain_runs.status', 'in', ENDED_STATUSES)
            .where(
              ({ fn, ref }) => fn.coalesce(ref('chain_runs.finished_at'), ref('chain_runs.updated_at')),
              '<',
              toText(runOverBefore),
            ),
        ),
      );
    }
    return (await query.execute()).map(artifactOf);
  }

  /** Each page has all artifacts of some archives, so a page may be longer than asked for. */
  async function archived(
    after: number,
    limit: number,
    runOverBefore: Date | undefined,
  ): Promise<Artifact[]> {
    for (let position = after; ; ) {
      const { last, artifacts } = await archives.artifactsAfter(position, limit);
      if (last === undefined) return [];
      const wanted = runOverBefore ? await ofRunsOver(artifacts, runOverBefore) : artifacts;
      if (wanted.length > 0) return wanted.map(artifactOf);
      position = last;
    }
  }

  async function ofRunsOver(rows: readonly Row[], before: Date): Promise<Row[]> {
    const over = await db
      .selectFrom('chain_runs')
      .select('id')
      .where('id', 'in', [...new Set(rows.map(({ run_id }) => run_id))])
      .where('finished_at', '<', toText(before))
      .execute();
    const ids = new Set(over.map(({ id }) => id));
    return rows.filter(({ run_id }) => ids.has(run_id));
  }
}

const LIST_PAGE = 200;

function newestFirst(artifacts: readonly Artifact[]): Artifact[] {
  return artifacts.toSorted(
    (a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0),
  );
}

function hasFailed({ content }: Artifact): boolean {
  return content !== null && memberOf(parseJson(content), 'passed') === false;
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
