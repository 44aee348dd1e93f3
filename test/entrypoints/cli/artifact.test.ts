import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { CountersignError } from '../../../src/core/errors.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import type { Blobs } from '../../../src/ports/blobs.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { ACCESS_KEY, BUCKET, SECRET_KEY, startS3 } from '../../contract/s3-store.ts';
import { completed, runState, session } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign } from './support.ts';

const DAY = 86_400_000;
const newFolder = temporaryFolders();
const ago = (days: number) => new Date(Date.now() - days * DAY);
const overSince = (days: number): Partial<Run> => ({
  status: 'completed',
  reason: completed,
  finishedAt: ago(days),
});

let env: Record<string, string>;
let root: string;
let storage: Storage;
let blobs: Blobs;

beforeEach(async () => {
  const folder = newFolder();
  root = join(folder, 'artifacts');
  await useStore({ ARTIFACTS_URL: `file:${root}` });
});

async function useStore(artifacts: Record<string, string>) {
  const path = join(newFolder(), 'countersign.db');
  env = { DATABASE_URL: `sqlite:${path}`, ...artifacts };
  storage = await openStorage(`sqlite:${path}`, { clock: systemClock });
  onTestFinished(() => storage.close());
  blobs = await createTools({ ...env, ARTIFACTS_URL: madeFirst(artifacts.ARTIFACTS_URL ?? '') }).blobs();
}

function madeFirst(url: string): string {
  if (url.startsWith('file:')) mkdirSync(url.slice('file:'.length), { recursive: true });
  return url;
}

/** One run with an outcome in its row and a log in the store. */
async function addRun(id: string, over: Partial<Run>): Promise<void> {
  await blobs.put(`${id}/a.log`, `log of ${id}`);
  await storage.transaction(async (tx) => {
    await tx.runs.insert(runState(id, over));
    await tx.runs.insertSession(session(`ses-${id}`, `${id}-inv0`));
    for (const [artifact, content, filePath] of [
      [`art-${id}-1`, '{"passed":true}', null],
      [`art-${id}-2`, null, `${id}/a.log`],
    ] as const) {
      await tx.artifacts.insert({
        id: artifact,
        runId: id,
        invocationId: `${id}-inv0`,
        sessionId: `ses-${id}`,
        createdAt: ago(100),
        kind: 'log',
        name: 'a.log',
        content,
        filePath,
      });
    }
  });
}

/** The command line in this process, with the given wrapper around its store. */
async function run(line: string, between: (real: Blobs) => Blobs = (real) => real) {
  const seen = { out: '', err: '' };
  const tools = createTools(env);
  const code = await runCli([...line.split(' '), '--json'], {
    cwd: '/nowhere',
    clock: systemClock,
    tools: { ...tools, blobs: async () => between(await tools.blobs()) },
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
  });
  return { code, said: JSON.parse(seen.out || seen.err) as Record<string, unknown> };
}

async function paths(): Promise<string[]> {
  const all: string[] = [];
  for await (const { path } of blobs.list()) all.push(path);
  return all.sort();
}

async function rows(): Promise<string[]> {
  const page = await storage.read.artifacts.page({ after: '', limit: 100_000 });
  return page.map(({ id }) => id);
}

describe('artifact prune', () => {
  it('deletes rows and blobs of runs that ended before the given time, and no others', {
    tags: 'slow',
  }, async () => {
    await addRun('old', overSince(91));
    await addRun('failed', { ...overSince(200), status: 'failed' });
    await addRun('recent', overSince(89));
    await addRun('waiting', { status: 'waiting_approval', createdAt: ago(300), updatedAt: ago(300) });
    const outcome = (await storage.read.runs.load('old'))?.run;
    expect(await run('artifact prune --older-than 90d')).toEqual({
      code: 0,
      said: {
        dry_run: false,
        before: expect.stringMatching(/Z$/),
        traces: 0,
        runs: 2,
        artifacts: 4,
        blobs: 2,
      },
    });
    expect(await paths()).toEqual(['recent/a.log', 'waiting/a.log']);
    expect(await rows()).toEqual(['art-recent-1', 'art-recent-2', 'art-waiting-1', 'art-waiting-2']);
    expect((await storage.read.runs.load('old'))?.run).toEqual(outcome);
    expect(await run('artifact prune --older-than 90d')).toMatchObject({ said: { runs: 0, artifacts: 0 } });
  });

  it('only lists what it would delete in a dry run', async () => {
    await addRun('old', overSince(91));
    expect(await run('artifact prune --older-than 90d --dry-run')).toMatchObject({
      code: 0,
      said: { dry_run: true, runs: 1, artifacts: 2, blobs: 1 },
    });
    expect([await paths(), await rows()]).toEqual([['old/a.log'], ['art-old-1', 'art-old-2']]);
  });

  it('continues where it was interrupted, and leaves no orphaned blob', async () => {
    for (const id of ['a', 'b', 'c']) await addRun(id, overSince(91));
    const breaking = (real: Blobs): Blobs => ({
      ...real,
      async delete(path) {
        if (path.startsWith('c/')) throw new CountersignError('storage.unavailable', 'The store is away.');
        await real.delete(path);
      },
    });
    expect(await run('artifact prune --older-than 90d', breaking)).toEqual({
      code: 1,
      said: { error: { code: 'storage.unavailable', message: 'The store is away.' } },
    });
    // Every blob that is left still has its row.
    expect(await rows()).toHaveLength(6);
    expect(await run('artifact prune --older-than 90d')).toMatchObject({ code: 0 });
    expect([await paths(), await rows()]).toEqual([[], []]);
  });

  it('processes many pages, each in its own transaction', { tags: 'slow' }, async () => {
    await addRun('old', overSince(91));
    await addRun('new', { ...overSince(1) });
    await storage.transaction(async (tx) => {
      const [row] = await tx.artifacts.ofRun('old');
      const [other] = await tx.artifacts.ofRun('new');
      if (!row || !other) throw new Error('no row to copy');
      for (let nth = 0; nth < 450; nth += 1) {
        await tx.artifacts.insert({
          ...(nth % 3 === 0 ? other : row),
          id: `many-${String(nth).padStart(4, '0')}`,
        });
      }
    });
    expect(await run('artifact prune --older-than 90d')).toMatchObject({ said: { runs: 1, artifacts: 302 } });
    expect(await rows()).toHaveLength(152);
  });

  it('works beside a process that writes to the same database', { tags: 'slow' }, async () => {
    await addRun('old', overSince(91));
    const pruning = countersign(['artifact', 'prune', '--older-than', '90d'], { env });
    await addRun('born-meanwhile', { status: 'running' });
    expect(await pruning).toEqual({
      code: 0,
      stdout: 'Deleted 2 artifacts of 1 run, 1 blob among them.\n',
      stderr: '',
    });
    expect(await paths()).toEqual(['born-meanwhile/a.log']);
    expect(await rows()).toEqual(['art-born-meanwhile-1', 'art-born-meanwhile-2']);
  });
});

describe('artifact check', () => {
  const age = (path: string, days: number) => utimesSync(join(root, path), ago(days), ago(days));

  /** A run whose log exists, one whose log is lost, an old orphaned blob, and a new one. */
  async function aMess(): Promise<void> {
    await addRun('whole', { status: 'running' });
    await addRun('lost', { status: 'running' });
    await blobs.delete('lost/a.log');
    await blobs.put('nobody/old.log', 'old');
    age('nobody/old.log', 2);
    await blobs.put('nobody/new.log', 'new');
  }

  const FOUND = {
    blobs: 3,
    rows: 2,
    too_young: 1,
    blobs_without_rows: [{ path: 'nobody/old.log', size: 3, modified_at: expect.any(String) }],
    rows_without_blobs: [{ artifact_id: 'art-lost-2', trace_id: null, run_id: 'lost', path: 'lost/a.log' }],
    damaged: [],
  };

  it('reports that everything is in order', async () => {
    await addRun('whole', {});
    expect(await countersign(['artifact', 'check', '--hashes'], { env })).toEqual({
      code: 0,
      stdout: 'Checked 1 blob and 1 row: no errors.\n',
      stderr: '',
    });
  });

  it('finds blobs without rows and rows without blobs, changes nothing, and ends with 1', {
    tags: 'slow',
  }, async () => {
    await aMess();
    const before = [await paths(), await rows()];
    expect(await run('artifact check')).toEqual({ code: 1, said: { ...FOUND, repaired: false } });
    expect([await paths(), await rows()]).toEqual(before);
  });

  it('deletes them with --repair, except a blob so new that its row may still come', {
    tags: 'slow',
  }, async () => {
    await aMess();
    expect(await run('artifact check --repair')).toEqual({ code: 0, said: { ...FOUND, repaired: true } });
    expect(await paths()).toEqual(['nobody/new.log', 'whole/a.log']);
    expect(await rows()).toEqual(['art-lost-1', 'art-whole-1', 'art-whole-2']);
    expect(await run('artifact check')).toMatchObject({
      code: 0,
      said: { blobs_without_rows: [], too_young: 1 },
    });
  });

  it('keeps a blob that is stored again during the repair', { tags: 'slow' }, async () => {
    await aMess();
    const putAgain = (real: Blobs): Blobs => ({
      ...real,
      async *list() {
        yield* real.list();
        await real.put('nobody/old.log', 'again');
      },
    });
    expect(await run('artifact check --repair', putAgain)).toMatchObject({ code: 0 });
    expect(await paths()).toContain('nobody/old.log');
  });

  it('keeps the blob of a run that was taken out of its archive while the rows were read', {
    tags: 'slow',
  }, async () => {
    await aMess();
    await blobs.put('restored/a.log', 'old');
    age('restored/a.log', 2);
    const restoring = (real: Blobs): Blobs => ({
      ...real,
      // Asked of the lost log, when the first page of rows is read.
      async has(path) {
        await addRun('restored', { status: 'running' });
        age('restored/a.log', 2);
        return real.has(path);
      },
    });
    expect(await run('artifact check --repair', restoring)).toMatchObject({ code: 0 });
    expect(await paths()).toContain('restored/a.log');
  });

  it('does not report an artifact as lost that a running session stores meanwhile', async () => {
    await addRun('whole', {});
    const storing = (real: Blobs): Blobs => ({
      ...real,
      async *list() {
        yield* real.list();
        await addRun('born-meanwhile', { status: 'running' });
      },
    });
    expect(await run('artifact check', storing)).toMatchObject({
      code: 0,
      said: { rows: 2, rows_without_blobs: [] },
    });
  });

  it('repairs nothing if store and database have nothing in common', async () => {
    await aMess();
    await blobs.delete('whole/a.log');
    const before = [await paths(), await rows()];
    expect(await run('artifact check --repair')).toEqual({
      code: 1,
      said: {
        error: { code: 'cli.strange_store', message: expect.stringMatching(/hardly belong together/) },
      },
    });
    expect([await paths(), await rows()]).toEqual(before);
  });

  it('reads every blob with --hashes, and keeps damaged ones', { tags: 'slow' }, async () => {
    await addRun('whole', {});
    await addRun('torn', {});
    writeFileSync(join(root, 'torn/a.log'), 'log of');
    expect(await run('artifact check')).toMatchObject({ code: 0 });
    expect(await run('artifact check --hashes --repair')).toMatchObject({
      code: 1,
      said: {
        damaged: [{ path: 'torn/a.log', message: expect.stringMatching(/SHA-256 .{64}, where .{64} was/) }],
      },
    });
    expect(await paths()).toContain('torn/a.log');
    expect(await rows()).toContain('art-torn-2');
  });

  it('neither reads nor creates a folder that does not exist', async () => {
    await addRun('whole', {});
    const elsewhere = join(root, 'elsewhere');
    env.ARTIFACTS_URL = `file:${elsewhere}`;
    for (const line of ['artifact check --repair', 'artifact prune --older-than 1d']) {
      expect(await run(line)).toMatchObject({ code: 1, said: { error: { code: 'cli.no_artifacts' } } });
    }
    expect(existsSync(elsewhere)).toBe(false);
  });

  it('reports errors in the settings of a bucket', async () => {
    env.ARTIFACTS_URL = 's3://bucket';
    expect(await run('artifact check')).toMatchObject({
      code: 1,
      said: { error: { code: 'config.invalid', message: expect.stringMatching(/^AWS_REGION is missing;/) } },
    });
  });
});

describe('artifacts in S3', () => {
  it('are checked, repaired and pruned like those in files', { tags: 'slow' }, async () => {
    const s3 = await startS3();
    onTestFinished(() => s3.close());
    await useStore({
      ARTIFACTS_URL: `s3://${BUCKET}/countersign`,
      AWS_ENDPOINT_URL: s3.url,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    });
    await addRun('old', overSince(91));
    await addRun('lost', { status: 'running' });
    await blobs.delete('lost/a.log');
    await blobs.put('nobody/new.log', 'new');
    expect(await run('artifact check --hashes --repair')).toMatchObject({
      code: 0,
      said: { blobs: 2, too_young: 1, rows_without_blobs: [{ path: 'lost/a.log' }], repaired: true },
    });
    expect(await run('artifact prune --older-than 90d')).toMatchObject({ said: { runs: 1, blobs: 1 } });
    expect(await paths()).toEqual(['nobody/new.log']);
    s3.fail({ kind: 'answers', status: 403, code: 'AccessDenied' });
    expect(await run('artifact check')).toMatchObject({
      code: 1,
      said: { error: { code: 'storage.unavailable', message: expect.stringContaining('s3:ListBucket') } },
    });
  });
});
