import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { VERDICTS } from '../../domain/outcome/review-verdict.ts';
import type { ArtifactOutline, ArtifactSearch, FoundArtifacts } from '../../ports/storage.ts';
import { unpackRows } from './archives.ts';
import { knownResult, type StoredResult, UNKNOWN } from './artifact-results.ts';
import { readable, reading, toDate, toText } from './columns.ts';
import { JOIN_IN_ORDER, unindexed } from './dialect.ts';
import type { ArtifactsTable, Database } from './schema.ts';

/** What a search reads at most, so that no page takes long however rare what it looks for is. */
const SCANNED_RUNS = 1_000;
/** Archives do not say the names of their artifacts, so a search for text opens them. */
const OPENED_RUNS = 150;
const FOUND_RUNS = 20;
const SHOWN_OF_RUN = 20;

type Outline = Pick<Selectable<ArtifactsTable>, 'id' | 'run_id' | 'created_at' | 'kind' | 'name'> &
  StoredResult;

interface Candidate {
  id: string;
  repository: string;
  pull_request: number | null;
  chain: string;
  created_at: string;
  archive_id: number | null;
  /** Whether the text that is searched for is in what this row says. */
  says_it: number;
}

export async function searchArtifacts(db: Kysely<Database>, search: ArtifactSearch): Promise<FoundArtifacts> {
  const scanned = scan(search);
  const wanted = search.text === undefined ? FOUND_RUNS + 1 : OPENED_RUNS;
  const { rows: candidates } = await candidatesOf(scanned, search, wanted).execute(db);
  const live = candidates.filter(({ archive_id }) => archive_id === null);
  const liveRows = await liveArtifacts(db, live.slice(0, FOUND_RUNS + 1), search);
  const archives = await contents(db, candidates);

  const runs: FoundArtifacts['runs'] = [];
  let last: Candidate | undefined;
  for (const candidate of candidates) {
    if (runs.length === FOUND_RUNS) break;
    last = candidate;
    let isDamaged = false;
    const rows =
      candidate.archive_id === null
        ? liveRows.filter(({ run_id }) => run_id === candidate.id)
        : await readable(
            () => archivedArtifacts(archives, candidate),
            () => {
              isDamaged = true;
            },
          );
    const found = (rows ?? []).filter((row) => isWanted(row, search, candidate.says_it === 1));
    if (found.length === 0 && !isDamaged) continue;
    runs.push({
      run: {
        id: candidate.id,
        repository: candidate.repository,
        pullRequest: candidate.pull_request,
        chain: candidate.chain,
        createdAt: toDate(candidate.created_at),
      },
      artifacts: found.toSorted(newestFirst).slice(0, SHOWN_OF_RUN).map(outlineOf),
      hasMore: found.length > SHOWN_OF_RUN,
      isDamaged,
    });
  }
  const isCut = last !== candidates.at(-1) || candidates.length === wanted;
  const end = isCut ? last : await endOf(db, scanned);
  return { runs, next: end && { createdAt: toDate(end.created_at), id: end.id } };
}

/** The newest runs that the viewer may see, from the index by time alone: no other, or SQLite would sort the runs of repositories. */
function scan({ visible, repository, until, after }: ArtifactSearch): RawBuilder<unknown> {
  const { ids } = visible;
  const conditions = [
    ids === undefined
      ? []
      : ids.length === 0
        ? sql`FALSE`
        : sql`${unindexed('repository_id')} IN (${sql.join(ids)})`,
    repository === undefined
      ? []
      : sql`${unindexed('repository_id')} IN (SELECT repository_id FROM chain_runs WHERE repository = ${repository})`,
    until === undefined ? [] : sql`created_at < ${toText(until)}`,
    after === undefined ? [] : sql`(created_at, id) < (${toText(after.createdAt)}, ${after.id})`,
  ].flat();
  const where = conditions.length === 0 ? sql`TRUE` : sql.join(conditions, sql` AND `);
  return sql`SELECT id, created_at FROM chain_runs WHERE ${where}
    ORDER BY created_at DESC, id DESC LIMIT ${SCANNED_RUNS}`;
}

async function endOf(db: Kysely<Database>, scanned: RawBuilder<unknown>) {
  const { rows } = await sql<{ id: string; created_at: string }>`
    SELECT * FROM (${scanned}) AS found LIMIT 1 OFFSET ${SCANNED_RUNS - 1}`.execute(db);
  return rows[0];
}

function candidatesOf(scanned: RawBuilder<unknown>, search: ArtifactSearch, limit: number) {
  const { kind, failed, verdict, since, text } = search;
  const live: RawBuilder<unknown>[] = [sql`x.run_id = r.id`];
  if (kind !== undefined) live.push(sql`${unindexed('x.kind')} = ${kind}`);
  if (failed) live.push(sql`(x.result LIKE 'failed%' OR x.result = ${UNKNOWN})`);
  if (verdict !== undefined) live.push(sql`(x.result LIKE ${`% ${verdict}`} OR x.result = ${UNKNOWN})`);
  if (since !== undefined) live.push(sql`x.created_at >= ${toText(since)}`);
  // Too much may match, and nothing that is searched for is left out: what is found is compared again.
  const line = `%\n${kind ?? '%'} ${failed ? 'failed%' : '%'}${verdict === undefined ? '' : ` ${verdict}\n%`}`;
  const isAny = kind === undefined && !failed && verdict === undefined;
  const archived = isAny ? sql`TRUE` : sql`(a.results IS NULL OR a.results LIKE ${line})`;
  const says =
    text === undefined
      ? sql`TRUE`
      : sql`(${has(sql`r.repository`, text)} OR ${has(sql`r.chain`, text)} OR ${text} = '#' || r.pull_request)`;
  const named =
    text === undefined
      ? sql`TRUE`
      : sql`(${says} OR r.archive_id IS NOT NULL
        OR EXISTS (SELECT 1 FROM artifacts AS x WHERE x.run_id = r.id AND ${has(sql`x.name`, text)}))`;
  return sql<Candidate>`
    SELECT r.id, r.repository, r.pull_request, r.chain, r.created_at, r.archive_id, CASE WHEN ${says} THEN 1 ELSE 0 END AS says_it
      FROM (${scanned}) AS found ${JOIN_IN_ORDER} chain_runs AS r ON r.id = found.id
      LEFT JOIN run_archives AS a ON a.id = r.archive_id
      WHERE ${since === undefined ? sql`TRUE` : sql`r.updated_at >= ${toText(since)}`}
        AND CASE WHEN r.archive_id IS NULL
          THEN EXISTS (SELECT 1 FROM artifacts AS x WHERE ${sql.join(live, sql` AND `)})
          ELSE ${archived} END
        AND ${named}
      ORDER BY found.created_at DESC, found.id DESC LIMIT ${limit}`;
}

function has(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
  return sql<boolean>`lower(${column}) LIKE ${pattern} ESCAPE '\\'`;
}

/** Those of each run, one more than are shown. The content is read only where its result is not known. */
async function liveArtifacts(
  db: Kysely<Database>,
  runs: readonly Candidate[],
  { kind, failed, verdict, since, until }: ArtifactSearch,
): Promise<Outline[]> {
  if (runs.length === 0) return [];
  const parts = runs.map(({ id }) => {
    const conditions = [sql`run_id = ${id}`];
    if (kind !== undefined) conditions.push(sql`${unindexed('kind')} = ${kind}`);
    if (failed) conditions.push(sql`(result LIKE 'failed%' OR result = ${UNKNOWN})`);
    if (verdict !== undefined) conditions.push(sql`(result LIKE ${`% ${verdict}`} OR result = ${UNKNOWN})`);
    if (since !== undefined) conditions.push(sql`created_at >= ${toText(since)}`);
    if (until !== undefined) conditions.push(sql`created_at < ${toText(until)}`);
    return sql`SELECT * FROM (SELECT id, run_id, created_at, kind, name, result,
      CASE WHEN result = ${UNKNOWN} THEN content END AS content FROM artifacts
      WHERE ${sql.join(conditions, sql` AND `)} ORDER BY created_at DESC, id DESC LIMIT ${LIVE_OF_RUN}) AS found`;
  });
  const { rows } = await sql<Outline>`${sql.join(parts, sql` UNION ALL `)}`.execute(db);
  return rows;
}

/** A text is compared only here. */
const LIVE_OF_RUN = 200;

async function contents(
  db: Kysely<Database>,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const ids = candidates.flatMap(({ archive_id }) => archive_id ?? []);
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('run_archives').select(['id', 'content']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, content }) => [id, content]));
}

function archivedArtifacts(
  archives: ReadonlyMap<number, Uint8Array>,
  { id, archive_id }: Candidate,
): Outline[] {
  const content = archives.get(archive_id ?? 0);
  // Taken out of its archive meanwhile.
  if (archive_id === null || content === undefined) return [];
  return reading('run_archives', archive_id, () => unpackRows(content)).artifacts.filter(
    ({ run_id }) => run_id === id,
  );
}

function isWanted(
  row: Outline,
  { kind, failed, verdict, since, until, text }: ArtifactSearch,
  runSaysIt: boolean,
): boolean {
  const [word, said] = knownResult(row).split(' ');
  return (
    (kind === undefined || row.kind === kind) &&
    (!failed || word === 'failed') &&
    (verdict === undefined || said === verdict) &&
    (since === undefined || row.created_at >= toText(since)) &&
    (until === undefined || row.created_at < toText(until)) &&
    (text === undefined || runSaysIt || row.name.toLowerCase().includes(text.toLowerCase()))
  );
}

function newestFirst(a: Outline, b: Outline): number {
  return a.created_at === b.created_at ? (a.id < b.id ? 1 : -1) : a.created_at < b.created_at ? 1 : -1;
}

const PASSED: Readonly<Record<string, boolean | null>> = { passed: true, failed: false, none: null };

function outlineOf(row: Outline): ArtifactOutline {
  const [word = '', said] = knownResult(row).split(' ');
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    createdAt: toDate(row.created_at),
    passed: PASSED[word],
    verdict: VERDICTS.find((verdict) => verdict === said) ?? null,
  };
}
