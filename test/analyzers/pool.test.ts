// @module-tag security

import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAnalyzerPool, type PoolOptions } from '../../src/analyzers/pool.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { ownChildren } from '../support/own-children.ts';
import { until } from '../support/until.ts';

const workers = () => ownChildren('analyzers/worker/main.');
const [REMAINS, WHEN, HANGS, POISONS, FORGES] = ['remains', 'when', 'hangs', 'poisons', 'forges'].map(
  (name) => new URL(`./fixtures/${name}.mjs`, import.meta.url),
) as [URL, URL, URL, URL, URL];

/** A pool with processes in reserve, which may also run the analyzers of this test. */
function start(options: PoolOptions = {}) {
  const pool = createAnalyzerPool({
    atOnce: 1,
    modules: [REMAINS, WHEN, HANGS, POISONS, FORGES].map((url) => fileURLToPath(url)),
    ...options,
  });
  onTestFinished(() => pool.stop());
  return {
    ...pool,
    async run(analyzer: URL, text = '', signal = new AbortController().signal) {
      const name = 'of a test';
      const [result] = await pool.run(
        {
          files: [{ index: 0, name: '0001.txt', language: 'other', text }],
          jobs: [{ analyzer: name, module: analyzer.href, files: [0], cost: 1, config: {} }],
        },
        { timeoutMs: 100_000, signal },
      );
      if (result?.status !== 'ok') throw new Error(JSON.stringify(result));
      return JSON.parse(result.log);
    },
  };
}

/** Where the system keeps temporary files during this test. */
async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-test-')));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  return folder;
}

function contentsOf(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]);
}

/** The process that waits for the next review. */
async function readySpare(pool: ReturnType<typeof start>): Promise<number> {
  await pool.run(REMAINS);
  // Its command names what it may read. The process that compiles everything before it may not read this.
  return until('a spare', () => ownChildren(fileURLToPath(REMAINS))[0]);
}

test('An analyzer that leaves everything behind that it can leaves nothing for the next pull request', {
  tags: 'slow',
}, async () => {
  const pool = start();
  const left = await pool.run(REMAINS, 'leave');
  expect(left).toMatchObject({ global: true, property: true, replaced: true, file: true, native: true });

  // The second process waited while the first one worked or after it; a third one waits now.
  for (let others = 0; others < 2; others++) {
    const { pid, folder, ...found } = await pool.run(REMAINS);
    expect(found).toEqual({
      calls: 1,
      global: false,
      property: false,
      replaced: false,
      variable: false,
      title: false,
      umask: false,
      file: false,
      files: [],
      native: false,
    });
    expect([pid, folder]).not.toEqual([left.pid, left.folder]);
  }
  expect(existsSync(left.folder)).toBe(false);
});

test('An analyzer cannot change the compiled code that the processes of other reviews use', {
  tags: 'slow',
}, async () => {
  const compiled = join(await temporaryFolder(), 'compiled');
  const pool = start({ keptIn: compiled });
  await readySpare(pool);
  const before = contentsOf(compiled);
  expect(before.length).toBeGreaterThan(50);
  expect(await pool.run(POISONS, compiled)).toEqual({
    read: 'refused',
    written: 'refused',
    writtenThroughLink: 'refused',
    linked: 'refused',
    writtenThroughOwnLink: 'refused',
    // In its own folder.
    replaced: 'done',
  });
  expect(contentsOf(compiled)).toEqual(before);
});

eachFirstQuick([
  ['in the same process', 0],
  ['beside it', 200_001],
])('An analyzer cannot forge the result of another one %s', async (_, characters) => {
  const pool = createAnalyzerPool({
    spares: false,
    modules: [WHEN, FORGES].map((url) => fileURLToPath(url)),
  });
  const files = [
    { index: 0, name: '0001.txt', language: 'other' as const, text: 'honest' },
    { index: 1, name: '0002.txt', language: 'other' as const, text: 'x'.repeat(characters) },
  ];
  const jobs = [
    { analyzer: 'honest', module: WHEN.href, files: [1], cost: 2, config: {} },
    { analyzer: 'forger', module: FORGES.href, files: [0], cost: 1, config: {} },
  ];
  const results = await pool.run(
    { files, jobs },
    { timeoutMs: 100_000, signal: new AbortController().signal },
  );
  expect(results.map((result) => result.status === 'ok' && result.log)).toEqual([
    expect.stringContaining('begun'),
    'true',
  ]);
});

test('A review gets a process that was started before it', { tags: 'slow' }, async () => {
  const pool = start();
  const spare = await readySpare(pool);
  const { pid } = await pool.run(REMAINS);
  expect(pid).toBe(spare);
});

test('A review does not need the spare that died while it waited', { tags: 'slow' }, async () => {
  const pool = start();
  const spare = await readySpare(pool);
  process.kill(spare, 'SIGKILL');
  await until('its end', () => (workers().includes(spare) ? undefined : true));
  const { pid } = await pool.run(REMAINS);
  expect(pid).not.toBe(spare);
});

test('Reviews beyond the limit wait for their turn', { tags: 'slow' }, async () => {
  const pool = start();
  const times = await Promise.all([pool.run(WHEN), pool.run(WHEN), pool.run(WHEN)]);
  const [first, second, third] = times.toSorted((a, b) => a.begun - b.begun);
  expect(first.ended).toBeLessThanOrEqual(second.begun);
  expect(second.ended).toBeLessThanOrEqual(third.begun);
});

test('A review that is cancelled before its turn takes nobody else’s turn', { tags: 'slow' }, async () => {
  const pool = start();
  const [blocking, cancelled] = [new AbortController(), new AbortController()];
  const hanging = expect(pool.run(HANGS, '', blocking.signal)).rejects.toThrow('enough');
  const waiting = expect(pool.run(WHEN, '', cancelled.signal)).rejects.toThrow('no longer wanted');
  const last = pool.run(WHEN);
  cancelled.abort(new Error('no longer wanted'));
  await waiting;
  blocking.abort(new Error('enough'));
  await hanging;
  expect(await last).toHaveProperty('ended');
});

test('The compiled code of one pool serves the next one, which lets no process compile it', {
  tags: 'slow',
}, async () => {
  const keptIn = join(await temporaryFolder(), 'compiled');
  let started = 0;
  const count = () => void started++;
  const toSpare = async () => {
    const pool = start({ keptIn });
    started = 0;
    await readySpare(pool);
    const until = started;
    await pool.stop();
    return until;
  };
  // The first process of a program also tries what the machine allows.
  await toSpare();
  await rm(keptIn, { recursive: true });
  subscribe('child_process', count);
  onTestFinished(() => void unsubscribe('child_process', count));
  expect([await toSpare(), await toSpare()]).toEqual([3, 2]);
  expect(contentsOf(keptIn).length).toBeGreaterThan(50);
});

test('A pool whose compiled code cannot stay keeps it until it stops', { tags: 'slow' }, async () => {
  const folder = await temporaryFolder();
  const pool = start({ keptIn: join(fileURLToPath(import.meta.url), 'below a file') });
  await readySpare(pool);
  const compiled = readdirSync(folder).find((name) => name.includes('compiled')) ?? '';
  expect(contentsOf(join(folder, compiled)).length).toBeGreaterThan(50);
});

test('A pool that was stopped leaves no process and no file', { tags: 'slow' }, async () => {
  const folder = await temporaryFolder();
  // Its compiled code is in a temporary folder, too.
  const pool = start({ keptIn: join(fileURLToPath(import.meta.url), 'below a file') });
  await readySpare(pool);
  expect(readdirSync(folder)).not.toEqual([]);
  await pool.stop();
  expect(workers()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});
