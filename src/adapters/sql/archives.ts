import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { canonicalJson, contentHash, type Json } from '../../core/canonical.ts';
import { archiveKey, packText, unpackText } from './archive-content.ts';
import { ARCHIVE_DICTIONARY } from './archive-dictionary.ts';
import { resultsOf } from './artifact-results.ts';
import { parseJson, reading } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import { IN_ORDER_OF_INSERTION, unindexed } from './dialect.ts';
import { unpackJson } from './packed-json.ts';
import { isClosed, isDone } from './pruning-conditions.ts';
import type { Database } from './schema.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const dictionary = Buffer.from(ARCHIVE_DICTIONARY);

/** In the order in which they are inserted again: references between the others are checked at the commit. */
const TABLES = ['invocations', 'sessions', 'artifacts', 'approvals', 'effects', 'transitions'] as const;
type Table = (typeof TABLES)[number];
/** Rows of an ended run, by table, as they were in their tables. */
export type ArchivedRows = { [T in Table]: Selectable<Database[T]>[] };

const idOfRun = compiledOnce((db, { runId }: { runId: string }) =>
  db.selectFrom('chain_runs').select('archive_id').where('id', '=', runId),
);

/** Archives of runs, as one transaction or the reader sees them. */
export interface Archives {
  /**
   * The archived rows. A transaction gets none: they are back in their tables then, because it may change them.
   * A reader cannot write and gets them from the archive.
   */
  get(archiveId: number | null): Promise<ArchivedRows | undefined>;
  ofRun(runId: string): Promise<ArchivedRows | undefined>;
  /** The same of several, by the archive's id, in one statement. */
  many(archiveIds: readonly number[]): Promise<Map<number, ArchivedRows>>;
  /** The archived rows, also for a transaction, which must not change what they are about. */
  peek(archiveId: number): Promise<ArchivedRows | undefined>;
  /** The archive that has this artifact. */
  withArtifact(id: string): Promise<number | undefined>;
  /** The artifacts of the next archives. `last` is the last of these, if there was any. */
  artifactsAfter(
    archiveId: number,
    limit: number,
  ): Promise<{ last: number | undefined; artifacts: ArchivedRows['artifacts'] }>;
  /** Those with an effect of this key, or a session or an artifact with this id. Also says whether any were restored. */
  withKeys(keys: readonly string[]): Promise<{ found: ArchivedRows[]; restored: boolean }>;
}

export function archivesOn(db: Kysely<Database>, unit: UnitOfWork | undefined): Archives {
  async function get(archiveId: number | null): Promise<ArchivedRows | undefined> {
    if (archiveId === null) return undefined;
    if (!unit) return read(db, archiveId);
    unit.movesArchives();
    await restore(db, archiveId);
    return undefined;
  }

  return {
    get,

    async ofRun(runId) {
      const [run] = (await idOfRun(db, { runId })).rows;
      return get(run?.archive_id ?? null);
    },

    async many(archiveIds) {
      const found = new Map<number, ArchivedRows>();
      if (unit) for (const id of archiveIds) await get(id);
      if (unit || archiveIds.length === 0) return found;
      const rows = await db
        .selectFrom('run_archives')
        .select(['id', 'content'])
        .where('id', 'in', archiveIds)
        .execute();
      for (const { id, content } of rows)
        found.set(
          id,
          reading('run_archives', id, () => unpackRows(content)),
        );
      return found;
    },

    peek: (archiveId) => read(db, archiveId),

    async withArtifact(artifactId) {
      const ids = await db
        .selectFrom('archived_keys')
        .select('archive_id')
        .where('hash', '=', archiveKey(artifactId))
        .execute();
      for (const { archive_id } of ids) {
        const rows = await read(db, archive_id);
        if (rows?.artifacts.some(({ id }) => id === artifactId)) return archive_id;
      }
      return undefined;
    },

    async artifactsAfter(archiveId, limit) {
      const rows = await db
        .selectFrom('run_archives')
        .select(['id', 'content'])
        .where('id', '>', archiveId)
        .orderBy('id')
        .limit(limit)
        .execute();
      const artifacts = rows.flatMap(
        ({ id, content }) => reading('run_archives', id, () => unpackRows(content)).artifacts,
      );
      return { last: rows.at(-1)?.id, artifacts };
    },

    async withKeys(keys) {
      const found: ArchivedRows[] = [];
      let restored = false;
      if (keys.length === 0) return { found, restored };
      const ids = await db
        .selectFrom('archived_keys')
        .select('archive_id')
        .distinct()
        .where('hash', 'in', keys.map(archiveKey))
        .execute();
      for (const { archive_id } of ids) {
        const rows = await read(db, archive_id);
        // Different keys may have the same hash.
        if (!rows || !keysOf(rows).some((key) => keys.includes(key))) continue;
        if (unit) {
          unit.movesArchives();
          await restore(db, archive_id);
          restored = true;
        } else found.push(rows);
      }
      return { found, restored };
    },
  };
}

/** In the order of a time, and of ids at equal times. */
export function byTime<Row extends { id: string }>(rows: readonly Row[], time: (row: Row) => string): Row[] {
  const keyOf = (row: Row) => `${time(row)} ${row.id}`;
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The last so many of them, or all. */
export function newestOf<Row>(rows: readonly Row[], newest: number | undefined): readonly Row[] {
  return newest === undefined ? rows : rows.slice(Math.max(0, rows.length - newest));
}

function keysOf({ effects, sessions, artifacts }: ArchivedRows): string[] {
  return [...effects.map(({ key }) => key), ...[...sessions, ...artifacts].map(({ id }) => id)];
}

async function read(db: Kysely<Database>, archiveId: number): Promise<ArchivedRows | undefined> {
  const row = await db
    .selectFrom('run_archives')
    .select('content')
    .where('id', '=', archiveId)
    .executeTakeFirst();
  return row && reading('run_archives', archiveId, () => unpackRows(row.content));
}

/** Puts the rows back into their tables, if they are not there yet. */
async function restore(db: Kysely<Database>, archiveId: number): Promise<void> {
  const rows = await read(db, archiveId);
  if (!rows) return;
  // Before the effects are counted again.
  await db.deleteFrom('run_archives').where('id', '=', archiveId).execute();
  const hashes = [...new Set(keysOf(rows).map(archiveKey))];
  if (hashes.length > 0) {
    await db
      .deleteFrom('archived_keys')
      .where('hash', 'in', hashes)
      .where('archive_id', '=', archiveId)
      .execute();
  }
  for (const table of TABLES) {
    for (const row of rows[table]) {
      // Other rows may have the old numbers of transitions by now. New ones keep their order within the run.
      const values = table === 'transitions' ? { ...row, id: undefined } : row;
      await db.insertInto(table).values(values).execute();
    }
  }
  await sql`UPDATE chain_runs SET archive_id = NULL, packed = 0 WHERE id = ${runOf(rows)}`.execute(db);
}

/** Each archive has a row that names its run: a run begins with a transition or an effect. */
function runOf({
  invocations,
  artifacts,
  approvals,
  effects,
  transitions,
}: ArchivedRows): string | undefined {
  const [owned] = [...invocations, ...artifacts, ...approvals, ...effects];
  return owned?.run_id ?? transitions.find(({ subject_kind }) => subject_kind === 'run')?.subject_id;
}

/**
 * The ids of runs that may be archived, after a position: nothing is left to do for them, and their pull request
 * is closed, so that what continues them is rare.
 */
export async function archivableRuns(
  db: Kysely<Database>,
  page: { after: readonly [finishedAt: string, id: string]; before: string; limit: number },
): Promise<{ id: string; finished_at: string; archivable: number }[]> {
  const [finishedAt, id] = page.after;
  const { rows } = await sql<{ id: string; finished_at: string; archivable: number }>`
    SELECT r.id, r.finished_at, CASE WHEN ${isArchivable(page.before)} THEN 1 ELSE 0 END AS archivable
      FROM chain_runs AS r
      LEFT JOIN pull_requests AS p ON p.repository_id = r.repository_id AND p.number = r.pull_request
      WHERE r.archive_id IS NULL AND r.finished_at IS NOT NULL
        AND (r.finished_at, r.id) > (${finishedAt}, ${id}) AND r.finished_at < ${page.before}
      ORDER BY r.finished_at, r.id LIMIT ${page.limit}`.execute(db);
  return rows;
}

const isArchivable = (before: string): RawBuilder<boolean> => sql<boolean>`
  ${isDone(before)} AND (r.pull_request IS NULL OR coalesce(${isClosed} AND p.state_at < ${before}, FALSE))`;

/** Moves what belongs to the run into an archive, if it still may be. Returns whether it did. */
export async function archiveRun(db: Kysely<Database>, runId: string, before: string): Promise<boolean> {
  const { rows: found } = await sql<{ merged: number }>`
    SELECT CASE WHEN r.pull_request IS NULL OR p.state = 'merged' THEN 1 ELSE 0 END AS merged
      FROM chain_runs AS r
      LEFT JOIN pull_requests AS p ON p.repository_id = r.repository_id AND p.number = r.pull_request
      WHERE r.id = ${runId} AND r.archive_id IS NULL AND r.finished_at IS NOT NULL AND ${isArchivable(before)}`.execute(
    db,
  );
  const [run] = found;
  if (!run) return false;
  const rows = await rowsToArchive(db, runId, run.merged === 1);
  if (runOf(rows) === undefined) return false;
  const [archive] = await db
    .insertInto('run_archives')
    .values({
      // Those that are withheld count while they are in their table.
      effects: rows.effects.filter(({ status }) => status === 'done').length,
      artifacts: rows.artifacts.filter(({ kind }) => kind !== 'gate_verdict').length,
      content: packRows(rows),
      results: resultsOf(rows.artifacts),
    })
    .returning('id')
    .execute();
  if (!archive) throw new Error('an archive was not recorded');
  const hashes = [...new Set(keysOf(rows).map(archiveKey))];
  if (hashes.length > 0) {
    await db
      .insertInto('archived_keys')
      .values(hashes.map((hash) => ({ hash, archive_id: archive.id })))
      .execute();
  }
  // Sessions last: rows of other tables refer to them.
  for (const table of TABLES.toReversed()) {
    const ids = rows[table].map(({ id }) => id);
    if (ids.length > 0) await sql`DELETE FROM ${sql.table(table)} WHERE id IN (${sql.join(ids)})`.execute(db);
  }
  await db.updateTable('chain_runs').set({ archive_id: archive.id }).where('id', '=', runId).execute();
  return true;
}

async function rowsToArchive(db: Kysely<Database>, runId: string, merged: boolean): Promise<ArchivedRows> {
  const ofRun = sql`run_id = ${runId}`;
  const select = async <T extends Table>(
    table: T,
    where: RawBuilder<unknown>,
    order = IN_ORDER_OF_INSERTION,
  ) =>
    (
      await sql<
        ArchivedRows[T][number]
      >`SELECT * FROM ${sql.table(table)} WHERE ${where} ORDER BY ${order}`.execute(db)
    ).rows;
  const steps = sql`(SELECT id FROM invocations WHERE ${ofRun})`;
  const sessions = sql`(SELECT id FROM sessions WHERE invocation_id IN ${steps})`;
  const rows: ArchivedRows = {
    invocations: await select('invocations', ofRun),
    sessions: await select('sessions', sql`invocation_id IN ${steps}`),
    artifacts: await select('artifacts', ofRun),
    // Answers hold for their head as long as a pull request can be reopened, so retention reads them.
    approvals: merged ? await select('approvals', ofRun) : [],
    effects: await select('effects', sql`${ofRun} AND ${unindexed('status')} IN ('done', 'withheld')`),
    transitions: await select(
      'transitions',
      sql`subject_id = ${runId} OR subject_id IN ${steps} OR subject_id IN ${sessions}`,
      sql`id`,
    ),
  };
  // Foreign keys would delete traces of skills, and forget the sessions of calls to models.
  const { rows: references } = await sql`
    SELECT 1 FROM model_calls WHERE session_id IN ${sessions}
    UNION ALL SELECT 1 FROM skill_execution_traces WHERE session_id IN ${sessions}
    UNION ALL SELECT 1 FROM approvals WHERE ${ofRun} AND ${merged ? sql`FALSE` : sql`TRUE`} LIMIT 1`.execute(
    db,
  );
  return references.length === 0 ? rows : { ...rows, invocations: [], sessions: [], artifacts: [] };
}

type Value = string | number | null;
type Columns = Record<string, Value[]>;

/** Columns with times. A number in one of them is the milliseconds since the time before it, in the order of the content. */
const TIMES = /^at$|_at$|_until$/;

/** By column, because values of one column resemble each other: a tenth smaller than by row. */
export function packRows(rows: ArchivedRows): Buffer {
  let last = 0;
  const sinceLast = (value: Value) => {
    const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(time) || new Date(time).toISOString() !== value) return value;
    const since = time - last;
    last = time;
    return since;
  };
  const short = withoutHashes(rows);
  const columns = Object.fromEntries(
    TABLES.map((table) => {
      const all: readonly Record<string, Value>[] = short[table];
      const names = Object.keys(all[0] ?? {});
      const valuesOf = (name: string) => {
        const values = all.map((row) => plain(row[name]));
        return TIMES.test(name) ? values.map(sinceLast) : values;
      };
      return [table, Object.fromEntries(names.map((name) => [name, valuesOf(name)]))];
    }),
  );
  return packText(withNamesOnce(JSON.stringify(columns)), dictionary);
}

function plain(value: Value | undefined): Value {
  return typeof value === 'string' ? unpackJson(value) : (value ?? null);
}

/** @throws if the content is damaged, or was packed by a later version */
export function unpackRows(content: Uint8Array): ArchivedRows {
  const columns = JSON.parse(withNames(unpackText(content, dictionary))) as Record<Table, Columns>;
  let last = 0;
  const timeOf = (value: Value) => {
    if (typeof value !== 'number') return value;
    last += value;
    return new Date(last).toISOString();
  };
  const rows = Object.fromEntries(
    TABLES.map((table) => {
      const all = Object.entries(columns[table]).map(
        ([name, values]) => [name, TIMES.test(name) ? values.map(timeOf) : values] as const,
      );
      const count = all[0]?.[1].length ?? 0;
      const rowAt = (at: number) => Object.fromEntries(all.map(([name, values]) => [name, values[at]]));
      return [table, Array.from({ length: count }, (_, at) => rowAt(at))];
    }),
  ) as unknown as ArchivedRows;
  return withHashes(rows);
}

/** Ids and hashes. */
const NAMES = /[a-z]{3}_[0-9a-z]{25}|[0-9a-f]{64}|[0-9a-f]{40}/g;
/** Before and after the number of a name. JSON has no such character. */
const MARK = '\u0001';

/**
 * The names come first, each once, and the text has their numbers: so it resembles the dictionary in long pieces. That
 * halves the content.
 */
function withNamesOnce(json: string): string {
  const numbers = new Map<string, number>();
  const text = json.replace(NAMES, (name) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return `${MARK}${number}${MARK}`;
  });
  return `${[...numbers.keys()].join()}\n${text}`;
}

function withNames(text: string): string {
  const end = text.indexOf('\n');
  const names = text.slice(0, end).split(',');
  const parts = text.slice(end + 1).split(MARK);
  // Every second part is a number.
  return parts.map((part, at) => (at % 2 === 0 ? part : (names[Number(part)] ?? ''))).join('');
}

/** Stands for a hash. No valid JSON has this character. */
const NO_HASH = '"content_hash":"\u0002"';

/**
 * Hashes do not compress, and what is equal to another text need not be there twice. Leaves out what `withHashes` finds
 * again, and nothing else.
 */
function withoutHashes(rows: ArchivedRows): ArchivedRows {
  const invocations = rows.invocations.map((row) => {
    const text = row.outcome_json && unpackJson(row.outcome_json);
    const short = text?.replace(/"content_hash":"sha256:[0-9a-f]{64}"/, NO_HASH) ?? null;
    return { ...row, outcome_json: withContentHash(short) === text ? short : text };
  });
  return {
    invocations,
    sessions: rows.sessions,
    artifacts: rows.artifacts.map((row) => {
      const content = row.content && unpackJson(row.content);
      return { ...row, content: content !== null && content === outcomeOf(row, rows) ? '' : content };
    }),
    approvals: rows.approvals,
    effects: rows.effects.map((row) => ({
      ...row,
      wished_hash: row.wished_hash === hashOfEffect(row) ? '' : row.wished_hash,
      applied_hash: row.applied_hash === row.wished_hash ? '' : row.applied_hash,
    })),
    // They get other numbers.
    transitions: rows.transitions.map((row) => ({ ...row, id: 0 })),
  };
}

function withHashes(rows: ArchivedRows): ArchivedRows {
  const invocations = rows.invocations.map((row) => ({
    ...row,
    outcome_json: withContentHash(row.outcome_json),
  }));
  return {
    ...rows,
    invocations,
    artifacts: rows.artifacts.map((row) =>
      row.content === '' ? { ...row, content: outcomeOf(row, { invocations }) } : row,
    ),
    effects: rows.effects.map((row) => {
      const wished = row.wished_hash === '' ? hashOfEffect(row) : row.wished_hash;
      return {
        ...row,
        wished_hash: wished,
        applied_hash: row.applied_hash === '' ? wished : row.applied_hash,
      };
    }),
  };
}

/** The content of the artifact, if it is the outcome of an invocation. */
function outcomeOf(
  { id }: { id: string },
  { invocations }: Pick<ArchivedRows, 'invocations'>,
): string | null {
  const text = invocations.find(({ outcome_artifact_id }) => outcome_artifact_id === id)?.outcome_json;
  return text == null ? null : canonicalJson(parseJson(text));
}

function withContentHash(outcome: string | null): string | null {
  if (!outcome?.includes(NO_HASH)) return outcome;
  const { content_hash: _, ...hashed } = parseJson<Record<string, Json>>(
    outcome.replace(NO_HASH, '"content_hash":""'),
  );
  return outcome.replace(NO_HASH, `"content_hash":"${contentHash(hashed)}"`);
}

function hashOfEffect({ effect_json }: ArchivedRows['effects'][number]): string {
  return contentHash(parseJson(effect_json));
}
