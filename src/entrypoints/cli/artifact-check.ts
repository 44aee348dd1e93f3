import { CountersignError } from '../../core/errors.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { artifactsChecked, STRANGE_STORE } from '../../messages/cli/cli.ts';
import { blobsRead } from '../../messages/cli/progress.ts';
import type { BlobFacts, Blobs } from '../../ports/blobs.ts';
import type { SkillTrace } from '../../ports/skill-traces.ts';
import type { ReadTx, Storage, Tx } from '../../ports/storage.ts';
import { artifactPages, forEach } from './artifact-pages.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { pathsOf, tracePages } from './trace-pages.ts';

export interface ArtifactCheckOptions extends DatabaseOption {
  hashes?: true;
  repair?: true;
}

/**
 * In milliseconds. A blob is written just before its row, and a session that cannot write the row is retried
 * and writes its blobs again. So a young blob without a row is not orphaned yet. A day is far longer than any
 * attempt.
 */
const ORPHAN_AGE_MS = 24 * 3_600_000;

/** A row that refers to a blob. */
interface BlobReference {
  path: string;
  json: { artifact_id: string | null; trace_id: number | null; run_id: string | null; path: string };
  isThere(): Promise<boolean>;
  remove(tx: Tx): Promise<void>;
}

interface Comparison {
  blobs: number;
  rows: number;
  /** Rows whose blob exists. */
  matched: number;
  tooYoung: number;
  blobsWithoutRows: BlobFacts[];
  rowsWithoutBlobs: BlobReference[];
  damaged: { path: string; message: string }[];
}

/**
 * Compares the store with the rows, also while the app runs. With `--repair`, it deletes what has no
 * counterpart.
 */
export function artifactCheck(
  { clock, tools, status }: Context,
  options: ArtifactCheckOptions,
): Promise<Output> {
  const { hashes = false, repair = false, database } = options;
  return tools.withDatabase(database, repair ? 'write' : 'read', async (storage) => {
    const blobs = await tools.blobs();
    const youngest = new Date(clock.now().getTime() - ORPHAN_AGE_MS);
    const found = await compare(storage, blobs, youngest);
    if (hashes) found.damaged = await damagedIn(blobs, (done) => status(blobsRead(done, found.blobs)));
    const toRepair = found.blobsWithoutRows.length + found.rowsWithoutBlobs.length > 0;
    if (repair && toRepair) {
      // With the wrong database or the wrong store, everything would look orphaned.
      if (found.matched === 0) throw new CountersignError('cli.strange_store', STRANGE_STORE);
      await repairStore(storage, blobs, found, youngest);
    }
    return report(found, repair && toRepair);
  });
}

/**
 * Lists the blobs first, then reads the rows, and again if a blob seems to have none. A row that is added in between refers to a listed blob or to
 * one that is checked separately.
 */
async function compare({ read }: Storage, blobs: Blobs, youngest: Date): Promise<Comparison> {
  const unclaimed = new Map<string, BlobFacts>();
  for await (const facts of blobs.list()) unclaimed.set(facts.path, facts);
  const found: Comparison = {
    blobs: unclaimed.size,
    rows: 0,
    matched: 0,
    tooYoung: 0,
    blobsWithoutRows: [],
    rowsWithoutBlobs: [],
    damaged: [],
  };
  for await (const claims of references(read)) {
    found.rows += claims.length;
    await forEach(claims, async (claim) => {
      if (unclaimed.delete(claim.path) || (await blobs.has(claim.path))) found.matched += 1;
      // A prune at the same time deletes both.
      else if (await claim.isThere()) found.rowsWithoutBlobs.push(claim);
    });
  }
  // A run that was taken out of its archive meanwhile was in neither place when each was read. The second
  // time, its rows are read first.
  if (unclaimed.size > 0) {
    for await (const claims of references(read)) for (const { path } of claims) unclaimed.delete(path);
  }
  found.blobsWithoutRows = [...unclaimed.values()].filter(({ modifiedAt }) => modifiedAt <= youngest);
  found.tooYoung = unclaimed.size - found.blobsWithoutRows.length;
  return found;
}

/** All rows that refer to a blob, page by page: artifacts, then traces. */
async function* references(read: ReadTx): AsyncIterable<BlobReference[]> {
  for await (const page of artifactPages(read.artifacts))
    yield page.flatMap((row) => referencesOfArtifact(row, read));
  for await (const page of tracePages(read.skillTraces))
    yield page.flatMap((row) => referencesOfTrace(row, read));
}

function referencesOfArtifact(
  { id, runId, filePath: path }: Artifact,
  { artifacts }: ReadTx,
): BlobReference[] {
  if (path === null) return [];
  return [
    {
      path,
      json: { artifact_id: id, trace_id: null, run_id: runId, path },
      isThere: async () => (await artifacts.get(id)) !== undefined,
      remove: (tx) => tx.artifacts.remove([id]),
    },
  ];
}

function referencesOfTrace(trace: SkillTrace, { skillTraces }: ReadTx): BlobReference[] {
  const { id, of } = trace;
  return pathsOf(trace).map((path) => ({
    path,
    json: { artifact_id: null, trace_id: id, run_id: 'runId' in of ? of.runId : null, path },
    isThere: async () => (await skillTraces.page({ after: id - 1, limit: 1 }))[0]?.id === id,
    remove: (tx) => tx.skillTraces.remove([id]),
  }));
}

/** Reads every blob. Only another copy could repair a damaged one. */
async function damagedIn(blobs: Blobs, onRead: (done: number) => void): Promise<Comparison['damaged']> {
  const damaged: Comparison['damaged'] = [];
  let done = 0;
  for await (const { path } of blobs.list()) {
    try {
      for await (const _ of (await blobs.open(path)) ?? []);
    } catch (error) {
      if (!(error instanceof CountersignError) || error.code !== 'blobs.damaged') throw error;
      damaged.push({ path, message: error.message });
    }
    done += 1;
    onRead(done);
  }
  return damaged;
}

async function repairStore(storage: Storage, blobs: Blobs, found: Comparison, youngest: Date): Promise<void> {
  await forEach(found.blobsWithoutRows, async ({ path }) => {
    const now = await blobs.stat(path);
    // Written again since it was listed: its row is about to follow.
    if (now && now.modifiedAt <= youngest) await blobs.delete(path);
  });
  for (const row of found.rowsWithoutBlobs) {
    await storage.transaction((tx) => row.remove(tx));
  }
}

function report(found: Comparison, repaired: boolean): Output {
  const { blobs, rows, tooYoung, blobsWithoutRows, rowsWithoutBlobs, damaged } = found;
  const toRepair = blobsWithoutRows.length + rowsWithoutBlobs.length > 0;
  return {
    text: artifactsChecked({
      blobs,
      rows,
      tooYoung,
      blobsWithoutRows: blobsWithoutRows.map(({ path }) => path),
      rowsWithoutBlobs: rowsWithoutBlobs.map(({ path }) => path),
      damaged: damaged.map(({ path }) => path),
      repaired,
    }),
    json: {
      blobs,
      rows,
      too_young: tooYoung,
      blobs_without_rows: blobsWithoutRows.map(({ path, size, modifiedAt }) => ({
        path,
        size,
        modified_at: modifiedAt.toISOString(),
      })),
      rows_without_blobs: rowsWithoutBlobs.map(({ json }) => json),
      damaged,
      repaired,
    },
    failed: damaged.length > 0 || (toRepair && !repaired),
  };
}
