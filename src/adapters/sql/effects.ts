import { type Kysely, type Selectable, sql } from 'kysely';
import { contentHash } from '../../core/canonical.ts';
import {
  EFFECT_STATUSES,
  type Effect,
  type EffectRow,
  effectProgressSchema,
  effectSchema,
} from '../../domain/effect/effect.ts';
import type { Run } from '../../domain/run/run.ts';
import type { Effects, RunOfEffect, Runs } from '../../ports/storage.ts';
import { archiveKey } from './archive-content.ts';
import { type Archives, byTime, newestOf } from './archives.ts';
import { mustExist, parseJson, readable, reading, toDate, toDateOrNull, toText } from './columns.ts';
import { compiledOnce, listOnceCompiled } from './compiled.ts';
import { memberIsTrue } from './dialect.ts';
import { insertOnceCompiled } from './insert.ts';
import { KnownRows } from './known-rows.ts';
import { parsedOnce } from './parsed-once.ts';
import { runOfEffect } from './run-rows.ts';
import type { Database, EffectsTable } from './schema.ts';
import { statusCounts } from './status-counts.ts';
import type { UnitOfWork } from './unit-of-work.ts';

type Row = Selectable<EffectsTable>;

const effectIn = parsedOnce(effectSchema);
const progressIn = parsedOnce(effectProgressSchema);

const upsert = insertOnceCompiled(
  (db, rows: readonly Row[]) =>
    db
      .insertInto('effects')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet(({ ref }) => ({
          effect_json: ref('excluded.effect_json'),
          wished_hash: ref('excluded.wished_hash'),
          applied_hash: ref('excluded.applied_hash'),
          status: ref('excluded.status'),
          github_id: ref('excluded.github_id'),
          begun: ref('excluded.begun'),
          progress_json: ref('excluded.progress_json'),
          attempts: ref('excluded.attempts'),
          error: ref('excluded.error'),
          run_id: ref('excluded.run_id'),
          updated_at: ref('excluded.updated_at'),
          installation_id: ref('excluded.installation_id'),
          content_at: ref('excluded.content_at'),
        })),
      ),
  { keeps: true },
);

type ProgressColumns = Pick<
  Row,
  | 'key'
  | 'applied_hash'
  | 'status'
  | 'github_id'
  | 'begun'
  | 'progress_json'
  | 'attempts'
  | 'error'
  | 'updated_at'
  | 'content_at'
>;

const updateProgress = compiledOnce((db, progress: ProgressColumns) =>
  db
    .updateTable('effects')
    .set((eb) => ({
      applied_hash: progress.applied_hash,
      // The executed effect may no longer be the desired one; then it is not done.
      status: eb
        .case()
        .when(
          eb.and([
            eb(eb.val(progress.status), '=', 'done'),
            eb('wished_hash', 'is distinct from', progress.applied_hash),
          ]),
        )
        .then('pending' as const)
        .else(progress.status)
        .end(),
      github_id: progress.github_id,
      begun: progress.begun,
      progress_json: progress.progress_json,
      attempts: progress.attempts,
      error: progress.error,
      updated_at: progress.updated_at,
      content_at: progress.content_at,
    }))
    .where('key', '=', progress.key)
    .returning('status'),
);

/** The effects of some keys, and whether an archive may have one of them. @param values the archives' keys, then those of the effects */
const withArchive = listOnceCompiled((db, values: readonly (string | number)[]) =>
  db
    .selectFrom(db.selectNoFrom(sql.lit(1).as('one')).as('some'))
    .leftJoin('effects', (join) => join.on('effects.key', 'in', values.slice(values.length / 2) as string[]))
    .selectAll('effects')
    .select((eb) =>
      eb
        .selectFrom('archived_keys')
        .select('archived_keys.archive_id')
        .where('hash', 'in', values.slice(0, values.length / 2) as number[])
        .limit(sql.lit(1))
        .as('archive_id'),
    ),
);

async function ofKeys(
  db: Kysely<Database>,
  keys: readonly string[],
): Promise<{ rows: Row[]; areArchived: boolean }> {
  const found = await withArchive(db, [...keys.map(archiveKey), ...keys]);
  const rows = found.flatMap(({ archive_id, ...row }) => (row.key === null ? [] : [row as Row]));
  return { rows, areArchived: found.some(({ archive_id }) => archive_id !== null) };
}

function selectWithRun(db: Kysely<Database>) {
  return db
    .selectFrom('effects')
    .leftJoin('chain_runs', 'chain_runs.id', 'effects.run_id')
    .selectAll('effects')
    .select([
      'chain_runs.repository_id',
      'chain_runs.pull_request',
      'chain_runs.event_json',
      'chain_runs.facts_json',
      'chain_runs.reason_json',
      'chain_runs.finished_at',
    ]);
}

type RowWithRun = Awaited<ReturnType<ReturnType<typeof selectWithRun>['execute']>>[number];

const withRun = compiledOnce((db, { key }: { key: string }) =>
  selectWithRun(db).where('effects.key', '=', key),
);

/**
 * The outbox. A transaction reads a row once, compares what is desired with it, and writes it once at the end,
 * if it differs.
 */
export function effectsTable(
  db: Kysely<Database>,
  archives: Archives,
  runs: Pick<Runs, 'get'>,
  unit?: UnitOfWork,
  known?: KnownRows,
): Effects {
  /** Nothing outside a transaction. */
  const { effects } = known ?? new KnownRows();
  /** What the transaction has yet to write. */
  const changed = new Map<string, Row>();

  function knownRow(key: string): Row | undefined {
    return changed.get(key) ?? effects.get(key)?.row;
  }

  async function flush(): Promise<void> {
    const rows = [...changed.values()];
    changed.clear();
    await upsert(db, rows.map(inOrder));
    for (const row of rows) effects.set(row.key, { row });
  }
  unit?.writesLast(flush);

  async function preload(keys: readonly string[]): Promise<void> {
    const unread = [...new Set(keys)].filter((key) => !changed.has(key) && !effects.has(key));
    if (unread.length === 0) return;
    const { rows, areArchived } = await ofKeys(db, unread);
    for (const row of rows) effects.set(row.key, { row });
    const missing = unread.filter((key) => !effects.has(key));
    if (areArchived && (await archives.withKeys(missing)).restored) return preload(keys);
    for (const key of missing) effects.set(key, { row: undefined });
  }

  /** For the reader: a row of an archive. */
  async function archivedRow(key: string): Promise<Row | undefined> {
    const { found } = await archives.withKeys([key]);
    return found.flatMap(({ effects }) => effects).find((row) => row.key === key);
  }

  async function find(key: string): Promise<Row | undefined> {
    if (!unit) {
      const { rows, areArchived } = await ofKeys(db, [key]);
      return rows[0] ?? (areArchived ? archivedRow(key) : undefined);
    }
    await preload([key]);
    return knownRow(key);
  }

  async function archivedWithRun(key: string): ReturnType<Effects['getWithRun']> {
    const { found, restored } = await archives.withKeys([key]);
    if (restored) return table.getWithRun(key);
    const row = found.flatMap(({ effects }) => effects).find((one) => one.key === key);
    const run = await db
      .selectFrom('chain_runs')
      .selectAll()
      .where('id', '=', row?.run_id ?? null)
      .executeTakeFirst();
    return row && { row: effectOf(row), run: run && runOfEffect(run) };
  }

  async function put(row: Row): Promise<void> {
    if (!unit) return void (await upsert(db, [inOrder(row)]));
    changed.set(row.key, row);
  }

  const table: Effects = {
    async request({ id, key, effect, runId, at, retryNow = false }) {
      const row = await find(key);
      const desired = {
        wished_hash: contentHash(effect),
        run_id: runId,
        attempts: 0,
        error: null,
        updated_at: toText(at),
        installation_id: effect.installation_id,
      };
      if (!row) {
        await put({
          id,
          key,
          effect_json: JSON.stringify(effect),
          applied_hash: null,
          status: 'pending',
          github_id: null,
          begun: 0,
          progress_json: '{}',
          created_at: toText(at),
          content_at: null,
          ...desired,
        });
        return true;
      }
      const isApplied = row.applied_hash === desired.wished_hash;
      if (row.wished_hash === desired.wished_hash) {
        const isSameRun = row.run_id === runId;
        if (isApplied ? isSameRun && row.status === 'done' : isSameRun && row.status === 'pending')
          return false;
        // A refused effect stays refused, or every poll would ask GitHub again.
        if (!isApplied && !retryNow && rests(row, at)) return false;
      }
      const status = isApplied ? 'done' : 'pending';
      await put({ ...row, effect_json: JSON.stringify(effect), status, ...desired });
      return status === 'pending';
    },

    async get(key) {
      const row = await find(key);
      return row && effectOf(row);
    },

    async getWithRun(key) {
      const row = knownRow(key);
      if (row) {
        const run = row.run_id === null ? undefined : await runs.get(row.run_id);
        return { row: effectOf(row), run: run && partOf(run) };
      }
      const [found] = (await withRun(db, { key })).rows;
      if (!found) return archivedWithRun(key);
      const { row: read, run } = apart(found);
      if (known) effects.set(key, { row: read });
      return { row: effectOf(read), run };
    },

    async preload(keys) {
      if (unit) await preload(keys);
    },

    async saveProgress({ key, ...row }) {
      const progress = {
        applied_hash: row.appliedHash,
        status: row.status,
        github_id: row.githubId,
        begun: row.begun ? 1 : 0,
        progress_json: JSON.stringify(row.progress),
        attempts: row.attempts,
        error: row.error,
        updated_at: toText(row.updatedAt),
        content_at: row.contentAt && toText(row.contentAt),
      };
      const before = knownRow(key);
      if (before) {
        const isOther = row.status === 'done' && before.wished_hash !== row.appliedHash;
        const status = isOther ? 'pending' : row.status;
        await put({ ...before, ...progress, status });
        return status === 'pending';
      }
      let [saved] = (await updateProgress(db, { key, ...progress })).rows;
      if (!saved && (await archives.withKeys([key])).restored) {
        [saved] = (await updateProgress(db, { key, ...progress })).rows;
      }
      mustExist(saved !== undefined, 'effects', key);
      return saved?.status === 'pending';
    },

    async ofRun(runId, newest) {
      await flush();
      const archived = (await archives.ofRun(runId))?.effects ?? [];
      const rows = await db
        .selectFrom('effects')
        .selectAll()
        .where('run_id', '=', runId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .$if(newest !== undefined, (query) => query.limit(newest ?? 0))
        .execute();
      const all = byTime([...rows, ...archived], ({ created_at }) => created_at);
      return newestOf(all, newest).map(effectOf);
    },

    async mergesSent(repositoryId, pullRequest) {
      await flush();
      const ofArchives: Row[] = [];
      const found = await db
        .selectFrom('chain_runs')
        .leftJoin('effects', (join) =>
          join
            .onRef('effects.run_id', '=', 'chain_runs.id')
            .on('effects.key', 'like', 'merge:%')
            .on('effects.begun', '=', 1),
        )
        .selectAll('effects')
        .select('chain_runs.archive_id')
        .where('chain_runs.repository_id', '=', repositoryId)
        .where('chain_runs.pull_request', '=', pullRequest)
        .orderBy('effects.created_at')
        .orderBy('effects.id')
        .execute();
      for (const archiveId of new Set(found.map(({ archive_id }) => archive_id))) {
        const { effects = [] } = (archiveId && (await archives.peek(archiveId))) || {};
        ofArchives.push(...effects.filter(({ key, begun }) => key.startsWith('merge:') && begun === 1));
      }
      const rows = found.flatMap(({ archive_id, ...row }) => (row.key === null ? [] : [row as Row]));
      return byTime([...ofArchives, ...rows], ({ created_at }) => created_at).map(effectOf);
    },

    async gatesToClose(installationId) {
      await flush();
      const rows = await db
        .selectFrom('effects')
        .select(['key', 'effect_json'])
        .where('status', 'in', ['pending', 'failed'])
        .where('key', 'like', 'gate_check:%')
        .where('applied_hash', 'is', null)
        .where(memberIsTrue('progress_json', 'concluded'))
        .orderBy('key')
        .execute();
      // Not in SQL: PostgreSQL reads no JSON that contains a NUL, so the text of one gate check could keep all others open.
      return rows
        .filter(({ effect_json }) => parseJson<Effect>(effect_json).installation_id === installationId)
        .map(({ key }) => key);
    },

    async withContent(installationId, { since, until }, onDamaged) {
      await flush();
      const rows = await selectWithRun(db)
        .where('effects.installation_id', '=', installationId)
        .where('effects.content_at', '>=', toText(since))
        .where('effects.content_at', '<=', toText(until))
        .orderBy('effects.content_at')
        .execute();
      const readOne = (found: RowWithRun) =>
        reading('effects', found.id, () => {
          const { row, run } = apart(found);
          return { row: effectOf(row), run };
        });
      const read = await Promise.all(rows.map((found) => readable(() => readOne(found), onDamaged)));
      return read.filter((one) => one !== undefined);
    },

    async list({ status, limit }) {
      await flush();
      const query = db
        .selectFrom('effects')
        .selectAll()
        .orderBy('updated_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      const rows = await (status === undefined ? query : query.where('status', '=', status)).execute();
      return rows.map(effectOf);
    },

    async countByStatus() {
      await flush();
      return statusCounts(db, 'effect', EFFECT_STATUSES);
    },
  };
  return table;
}

function partOf({ repositoryId, pullRequest, event, facts, reason, finishedAt }: Run): RunOfEffect {
  return { repositoryId, pullRequest, event, facts, reason, finishedAt };
}

/** The row of an effect without the columns of its run, and what they say. */
function apart({
  repository_id,
  pull_request,
  event_json,
  facts_json,
  reason_json,
  finished_at,
  ...row
}: RowWithRun): { row: Row; run: RunOfEffect | undefined } {
  const isThere = repository_id !== null && event_json !== null && facts_json !== null;
  return {
    row,
    run: isThere
      ? runOfEffect({ repository_id, pull_request, event_json, facts_json, reason_json, finished_at })
      : undefined,
  };
}

/** All rows of one statement need their columns in one order. */
function inOrder(row: Row): Row {
  return {
    id: row.id,
    key: row.key,
    effect_json: row.effect_json,
    wished_hash: row.wished_hash,
    applied_hash: row.applied_hash,
    status: row.status,
    github_id: row.github_id,
    begun: row.begun,
    progress_json: row.progress_json,
    attempts: row.attempts,
    error: row.error,
    run_id: row.run_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    installation_id: row.installation_id,
    content_at: row.content_at,
  };
}

function rests({ id, status, progress_json }: Row, at: Date): boolean {
  if (status !== 'failed') return false;
  const { rests_until: until } = reading('effects', id, () => progressIn(progress_json));
  return until !== undefined && new Date(until) > at;
}

function effectOf(row: Row): EffectRow {
  return reading('effects', row.id, () => ({
    id: row.id,
    key: row.key,
    effect: effectIn(row.effect_json),
    desiredHash: row.wished_hash,
    appliedHash: row.applied_hash,
    status: row.status,
    githubId: row.github_id,
    begun: row.begun === 1,
    progress: progressIn(row.progress_json),
    attempts: row.attempts,
    error: row.error,
    runId: row.run_id,
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    contentAt: toDateOrNull(row.content_at),
  }));
}
