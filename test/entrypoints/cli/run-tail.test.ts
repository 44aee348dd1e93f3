import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openBlobs } from '../../../src/composition/blobs.ts';
import { reason } from '../../../src/domain/explanation/reason.ts';
import type { Invocation, RunState } from '../../../src/domain/run/run.ts';
import type { Tools } from '../../../src/entrypoints/cli/context.ts';
import type { Storage, Tx } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { at, merged, runState, session } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { answered, seed } from './support.ts';

const newFolder = temporaryFolders();
const BY = { kind: 'app' } as const;
const REVIEWED = reason('step.completed', 'nothing to complain about');

/** The command line, and what the app does between two looks at the database. */
async function tailing(
  args: readonly string[],
  {
    before,
    during = [],
    stopAfter = Number.POSITIVE_INFINITY,
    log = 'oxlint: 2 files\nruff: 1 file\nall done\n',
    hasStore = true,
  }: {
    before: (storage: Storage) => Promise<void>;
    during?: readonly ((tx: Tx) => Promise<unknown>)[];
    stopAfter?: number;
    /** What the step has printed at its end. */
    log?: string;
    hasStore?: boolean;
  },
) {
  const folder = newFolder();
  const path = join(folder, 'countersign.db');
  const artifacts = join(folder, 'artifacts');
  mkdirSync(artifacts);
  await openBlobs(`file:${artifacts}`).put('log', log);
  if (!hasStore) rmSync(artifacts, { recursive: true });
  await seed(path, before);
  const left = [...during];
  const stop = new AbortController();
  let pauses = 0;
  const tools: Tools = {
    ...createTools({ DATABASE_URL: `sqlite:${path}`, ARTIFACTS_URL: `file:${artifacts}` }),
    stopRequested: () => stop.signal,
    async pause() {
      pauses += 1;
      if (pauses > 50) throw new Error('it does not end');
      const next = left.shift();
      if (next) await seed(path, async (storage) => void (await storage.transaction(next)));
      if (pauses >= stopAfter) stop.abort();
    },
  };
  return answered(['run', 'tail', ...args], {
    cwd: process.cwd(),
    clock: new ManualClock('2026-01-05T13:00:00.000Z'),
    tools,
  });
}

const insert =
  (...states: RunState[]) =>
  (storage: Storage) =>
    storage.transaction(async ({ runs }) => {
      for (const state of states) await runs.insert(state);
    });

const begun = runState('run_a', { createdAt: at(5) });

/** The run with its first step changed. */
function withReview(over: Partial<Invocation>, run: Partial<RunState['run']> = {}): RunState {
  const [review, ...rest] = begun.invocations;
  if (!review) throw new Error('the run has no steps');
  return { run: { ...begun.run, ...run }, invocations: [{ ...review, ...over }, ...rest] };
}

const reviewing = { status: 'running', sessionId: 'ses_a', startedAt: at(10) } as const;
const start = async ({ runs, sessionLogs }: Tx) => {
  await runs.insertSession(session('ses_a', 'run_a-inv0', { startedAt: at(10) }));
  await runs.save(withReview(reviewing), BY);
  const part = { runId: 'run_a', sessionId: 'ses_a', begunAt: at(10) };
  await sessionLogs.append({ ...part, text: 'oxlint: 2 files\n', isFirst: true });
};
const print = ({ sessionLogs }: Tx) =>
  sessionLogs.append({
    runId: 'run_a',
    sessionId: 'ses_a',
    begunAt: at(10),
    text: 'ruff: 1 file \u001B[2J\n',
    isFirst: false,
  });
const end =
  (ended: Partial<RunState['run']>) =>
  async ({ runs, artifacts }: Tx) => {
    const over = { status: 'completed', startedAt: at(10), finishedAt: at(70) } as const;
    if (await runs.getSession('ses_a')) await runs.saveSession(session('ses_a', 'run_a-inv0', over), BY);
    else await runs.insertSession(session('ses_a', 'run_a-inv0', over));
    await artifacts.insert({
      id: 'art_log',
      runId: 'run_a',
      invocationId: 'run_a-inv0',
      sessionId: 'ses_a',
      kind: 'log',
      name: 'analyzers.log',
      content: null,
      filePath: 'log',
      createdAt: at(70),
    });
    const review = { ...reviewing, status: 'completed', reason: REVIEWED, finishedAt: at(70) } as const;
    const { run, invocations } = withReview(review, { ...ended, finishedAt: at(71) });
    const [first, second] = invocations;
    if (!first || !second) throw new Error('the run has no steps');
    const isMerged = ended.reason?.code === 'run.completed';
    await runs.save(
      {
        run,
        invocations: [
          first,
          {
            ...second,
            status: isMerged ? 'completed' : 'skipped',
            outcome: isMerged ? { ...merged, action: 'gh-merge' } : null,
            finishedAt: at(71),
          },
        ],
      },
      BY,
    );
  };
const well = end({ status: 'completed', reason: reason('run.completed', 'merged') });

describe('run tail', () => {
  it('shows each step and what it prints until the run has merged, and ends with 0', async () => {
    const { code, out, err } = await tailing(['run_a'], {
      before: insert(begun),
      during: [start, print, well],
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      acme/rocket#3 at aaaaaaa, chain pr-review, run run_a
      13:00:00  review running
                review | oxlint: 2 files
                review | ruff: 1 file �[2J
                review | all done
      12:01:10  review done: nothing to complain about
      12:01:11  merge done
      Merged: countersigned by mira
      "
    `);
  });

  it('shows the newest run that the options choose, and ends with 1 if it did not come to its end well', async () => {
    const { code, out } = await tailing(['--repo', 'acme/rocket'], {
      before: insert(
        runState('run_old', { createdAt: at(1) }),
        begun,
        runState('run_b', { createdAt: at(9), repository: 'acme/other', repositoryId: 71 }),
      ),
      during: [end({ status: 'cancelled', reason: reason('run.cancelled.closed', 'closed') })],
    });
    expect(code).toBe(1);
    expect(out).toMatch(/^acme\/rocket#3 at aaaaaaa, chain pr-review, run run_a\n/);
    expect(out).toMatch(/\nStopped: the pull request was closed\n$/);
  });

  it('says where the whole log of a step is if it is long', async () => {
    const log = Array.from({ length: 300 }, (_, line) => `line ${line}\n`).join('');
    const { out } = await tailing(['run_a'], {
      before: insert(begun),
      during: [well],
      log,
    });
    expect(out).toContain('countersign artifact get art_log prints all.');
    expect(out).not.toContain('line 99\n');
    expect(out).toContain('line 100\n');
  });

  it('says where the rest of a log is if the store of artifacts cannot be read from here', async () => {
    const { code, out } = await tailing(['run_a'], {
      before: insert(begun),
      during: [start, well],
      hasStore: false,
    });
    expect(code).toBe(0);
    expect(out).toContain('review | oxlint: 2 files\n');
    expect(out).toContain('countersign artifact get art_log prints all.');
  });

  it('sums up a run that is over without its logs', async () => {
    const { code, out } = await tailing(['run_a'], {
      before: async (storage) => {
        await insert(begun)(storage);
        await storage.transaction(start);
        await storage.transaction(well);
      },
    });
    expect(code).toBe(0);
    expect(out).not.toContain('oxlint');
    expect(out).toContain('12:01:10  review done: nothing to complain about\n');
  });

  it('ends with 1 when it is stopped before the run ends', async () => {
    expect(await tailing(['run_a'], { before: insert(begun), stopAfter: 2 })).toMatchObject({
      code: 1,
      err: '',
    });
  });

  it('prints a line of JSON for each thing that happens', async () => {
    const { out } = await tailing(['run_a', '--json'], { before: insert(begun), during: [start, well] });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      {
        kind: 'begun',
        run_id: 'run_a',
        chain: 'pr-review',
        repository: 'acme/rocket',
        pull_request: 3,
        head_sha: 'a'.repeat(40),
      },
      {
        kind: 'step',
        run_id: 'run_a',
        at: '2026-01-05T13:00:00.000Z',
        step: 'review',
        status: 'running',
        reason: null,
        because: null,
      },
      { kind: 'printed', run_id: 'run_a', step: 'review', line: 'oxlint: 2 files' },
      { kind: 'printed', run_id: 'run_a', step: 'review', line: 'ruff: 1 file' },
      { kind: 'printed', run_id: 'run_a', step: 'review', line: 'all done' },
      expect.objectContaining({
        kind: 'step',
        step: 'review',
        status: 'completed',
        reason: 'step.completed',
      }),
      expect.objectContaining({ kind: 'step', step: 'merge', status: 'completed' }),
      { kind: 'ended', run_id: 'run_a', status: 'completed', outcome: 'merged', ok: true },
    ]);
  });

  it('--follow shows unfinished runs and those that begin, each line with its run, until it is stopped', async () => {
    const { code, out } = await tailing(['--follow'], {
      before: insert(begun, runState('run_over', { createdAt: at(2), status: 'failed', finishedAt: at(3) })),
      during: [
        (tx) =>
          tx.runs.insert(
            runState('run_new', { createdAt: at(20), pullRequest: 4, status: 'failed', finishedAt: at(21) }),
          ),
        well,
      ],
      stopAfter: 4,
    });
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(' · ')[0])).not.toContain('run_over');
    expect(out).toContain('acme/rocket#3 pr-review · run run_a at aaaaaaa\n');
    expect(out).toContain('acme/rocket#4 pr-review · run run_new at aaaaaaa\n');
    expect(out).toMatch(/^acme\/rocket#3 pr-review · Merged/m);
  });

  it.each([
    [[], 1, /^There is no such run to follow/],
    [['run_none'], 1, /^There is no run run_none/],
    [['run_a', '--follow'], 2, /^Name one run, or choose/],
  ])('%j ends with %i and one sentence', async (args, code, err) => {
    expect(await tailing(args, { before: async () => {} })).toMatchObject({
      code,
      out: '',
      err: expect.stringMatching(err),
    });
  });
});
