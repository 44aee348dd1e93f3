import { CountersignError } from '../../core/errors.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { artifactsChecked, STRANGE_STORE } from '../../messages/cli.ts';
import type { BlobFacts, Blobs } from '../../ports/blobs.ts';
import type { SkillTrace } from '../../ports/skill-traces.ts';
import type { ReadTx, Storage, Tx } from '../../ports/storage.ts';
import { artifactPages, forEach } from './artifact-pages.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { pathsOf, tracePages } from './trace-pages.ts';

export interface ArtifactCheckOptions extends DatabaseOption {
  hashes?: true;
  repair?: true;
}

/**
 * A blob is written right before its row, and a session whose row could not be written is done again, which writes its blobs
 * anew. So a young blob may still get its row; a day is far longer than any attempt takes. In milliseconds.
 */
const ORPHAN_AGE_MS = 24 * 3_600_000;

/** A row that says where a blob is. */
interface Claim {
  path: string;
  json: { artifact_id: string | null; trace_id: number | null; run_id: string | null; path: string };
  isThere(): Promise<boolean>;
  remove(tx: Tx): Promise<void>;
}

interface Found {
  blobs: number;
  rows: number;
  /** Rows that have their blob. */
  matched: number;
  tooYoung: number;
  blobsWithoutRows: BlobFacts[];
  rowsWithoutBlobs: Claim[];
  damaged: { path: string; message: string }[];
}

/** Compares the store with the rows, beside a running app too; with `--repair` what has no counterpart is deleted. */
export function artifactCheck({ clock, tools }: Context, options: ArtifactCheckOptions): Promise<Said> {
  const { hashes = false, repair = false, database } = options;
  return tools.withDatabase(database, repair ? 'write' : 'read', async (storage) => {
    const blobs = await tools.blobs();
    const youngest = new Date(clock.now().getTime() - ORPHAN_AGE_MS);
    const found = await compare(storage, blobs, youngest);
    if (hashes) found.damaged = await damagedIn(blobs);
    const toRepair = found.blobsWithoutRows.length + found.rowsWithoutBlobs.length > 0;
    if (repair && toRepair) {
      // The wrong database, or the wrong store, looks as if everything were litter.
      if (found.matched === 0) throw new CountersignError('cli.strange_store', STRANGE_STORE);
      await mend(storage, blobs, found, youngest);
    }
    return said(found, repair && toRepair);
  });
}

/** The blobs first, then the rows: a row that comes in between brings a blob that was listed, or is looked for itself. */
async function compare({ read }: Storage, blobs: Blobs, youngest: Date): Promise<Found> {
  const unclaimed = new Map<string, BlobFacts>();
  for await (const facts of blobs.list()) unclaimed.set(facts.path, facts);
  const found: Found = {
    blobs: unclaimed.size,
    rows: 0,
    matched: 0,
    tooYoung: 0,
    blobsWithoutRows: [],
    rowsWithoutBlobs: [],
    damaged: [],
  };
  for await (const claims of claimsIn(read)) {
    found.rows += claims.length;
    await forEach(claims, async (claim) => {
      if (unclaimed.delete(claim.path) || (await blobs.has(claim.path))) found.matched += 1;
      // A prune that runs beside this takes both away.
      else if (await claim.isThere()) found.rowsWithoutBlobs.push(claim);
    });
  }
  found.blobsWithoutRows = [...unclaimed.values()].filter(({ modifiedAt }) => modifiedAt <= youngest);
  found.tooYoung = unclaimed.size - found.blobsWithoutRows.length;
  return found;
}

/** Every row that has a blob, some at a time: artifacts, then the texts of traces. */
async function* claimsIn(read: ReadTx): AsyncIterable<Claim[]> {
  for await (const page of artifactPages(read.artifacts)) yield page.flatMap((row) => claimOf(row, read));
  for await (const page of tracePages(read.skillTraces))
    yield page.flatMap((row) => claimsOfTrace(row, read));
}

function claimOf({ id, runId, filePath: path }: Artifact, { artifacts }: ReadTx): Claim[] {
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

function claimsOfTrace(trace: SkillTrace, { skillTraces }: ReadTx): Claim[] {
  const { id, of } = trace;
  return pathsOf(trace).map((path) => ({
    path,
    json: { artifact_id: null, trace_id: id, run_id: 'runId' in of ? of.runId : null, path },
    isThere: async () => (await skillTraces.page({ after: id - 1, limit: 1 }))[0]?.id === id,
    remove: (tx) => tx.skillTraces.remove([id]),
  }));
}

/** Reads every blob; nothing but another copy could repair what is found. */
async function damagedIn(blobs: Blobs): Promise<Found['damaged']> {
  const damaged: Found['damaged'] = [];
  for await (const { path } of blobs.list()) {
    try {
      for await (const _ of (await blobs.open(path)) ?? []);
    } catch (error) {
      if (!(error instanceof CountersignError) || error.code !== 'blobs.damaged') throw error;
      damaged.push({ path, message: error.message });
    }
  }
  return damaged;
}

async function mend(storage: Storage, blobs: Blobs, found: Found, youngest: Date): Promise<void> {
  await forEach(found.blobsWithoutRows, async ({ path }) => {
    const now = await blobs.stat(path);
    // Put again since it was listed: somebody is about to write its row.
    if (now && now.modifiedAt <= youngest) await blobs.delete(path);
  });
  for (const row of found.rowsWithoutBlobs) {
    await storage.transaction((tx) => row.remove(tx));
  }
}

function said(found: Found, repaired: boolean): Said {
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
