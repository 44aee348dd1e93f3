import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import { silentLog } from '../../../src/core/log.ts';
import { type EffectOf, effectSchema } from '../../../src/domain/effect/effect.ts';
import { judgeMerge } from '../../../src/domain/policy/merge-gate.ts';
import {
  createGateChecks,
  type GateChecks,
  type PassRequest,
} from '../../../src/engine/effects/gate-check.ts';
import { refuseOvertaken } from '../../../src/engine/effects/merge.ts';
import { createOutbox } from '../../../src/engine/effects/outbox.ts';
import { effectJobs } from '../../../src/engine/effects/perform.ts';
import type { WriteLimiter } from '../../../src/engine/effects/write-limiter.ts';
import { type GitHub, GitHubError, type GitHubWriter } from '../../../src/ports/github.ts';
import type { NewJob } from '../../../src/ports/jobs.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { facts, question } from '../../domain/policy/merge-facts.ts';
import { ManualClock } from '../../support/clock.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { everyWriter } from '../../support/writers.ts';

/** Only a refused notice needs it. */
const NO_QUEUE = {} as Queue;

const KEY = 'gate_check:1:a:main';
const LEASE_MS = 40_000;

const closed: EffectOf<'gate_check'> = {
  kind: 'gate_check',
  installation_id: 1,
  owner: 'acme',
  repo: 'shop',
  repository_id: 1,
  pull_request: 7,
  base_ref: 'main',
  content: {
    name: 'countersign: main',
    head_sha: 'a',
    external_id: 'x',
    state: { status: 'in_progress', started_at: '2026-03-02T09:00:00.000Z' },
    title: 'Waiting',
    summary: 'Waiting.',
    text: '',
    annotations: [],
    actions: [],
    details_url: null,
  },
};

describe('a stored gate check', () => {
  test.each(['success', 'neutral', 'skipped', 'timed_out', 'action_required'])(
    'cannot be %s',
    (conclusion) => {
      const state = { status: 'completed', conclusion, completed_at: '2026-03-02T09:00:00.000Z' };
      const stored = effectSchema.safeParse({ ...closed, content: { ...closed.content, state } });
      expect(stored.success).toBe(false);
    },
  );

  test.each(['failure', 'cancelled'])('can be %s', (conclusion) => {
    const state = { status: 'completed', conclusion, completed_at: '2026-03-02T09:00:00.000Z' };
    expect(effectSchema.safeParse({ ...closed, content: { ...closed.content, state } }).success).toBe(true);
  });
});

describe('a gate check', () => {
  const clock = new ManualClock('2026-03-02T09:00:00.000Z');
  const newFolder = temporaryFolders();
  let storage: Storage;
  let gates: GateChecks;
  let jobs: ReturnType<typeof effectJobs>;
  let enqueued: NewJob[];
  /** What GitHub received, in order. */
  let recalled: number;
  let told: string[];
  /** What GitHub answers to a new check run. */
  let refuse: GitHubError | undefined;
  /** Happens while the request that opens the gate is under way. */
  let meanwhile: () => Promise<void>;

  const writer = {
    async createCheckRun(_repo, { state }) {
      if (refuse) throw refuse;
      told.push(state.status);
      return { id: told.length, nodeId: undefined, url: undefined };
    },
    async updateCheckRun(_repo, _id, { state }) {
      told.push(state.status);
    },
    findCheckRun: async () => undefined,
    async passGate() {
      told.push('green');
      await meanwhile();
    },
  } as Partial<GitHubWriter> as GitHubWriter;

  beforeEach(async () => {
    told = [];
    refuse = undefined;
    meanwhile = async () => undefined;
    storage = await openStorage(`sqlite:${join(newFolder(), 'test.db')}`, { clock });
    const github = { writer: () => writer, turn: () => undefined } as unknown as GitHub;
    // The queue is not under test here: the test calls the jobs as the queue would.
    enqueued = [];
    const queue = { enqueue: async (_: unknown, ...jobs: NewJob[]) => void enqueued.push(...jobs) } as never;
    let ids = 0;
    const outbox = createOutbox({ queue, ids: { next: (prefix) => `${prefix}_${++ids}` } });
    gates = createGateChecks({ storage, writers: everyWriter(github), queue, outbox, clock });
    recalled = 0;
    const limiter = {
      knows: () => false,
      recall() {
        recalled += 1;
      },
      take: () => undefined,
      hold: () => undefined,
    } as unknown as WriteLimiter;
    jobs = effectJobs({
      storage,
      github,
      clock,
      log: silentLog,
      limiter,
      writers: everyWriter(github),
      queue: NO_QUEUE,
    });
    await close();
    await perform();
    expect(told).toEqual(['in_progress']);
  });
  afterEach(() => storage.close());

  const close = () =>
    storage.transaction((tx) => gates.close(tx, KEY, closed, { runId: null, at: clock.now() }));

  async function perform(): Promise<void> {
    for (;;) {
      const result = await jobs.run({ key: KEY }, new AbortController().signal);
      if (result.kind !== 'reschedule' || result.at > clock.now()) return;
    }
  }

  async function pass(more: Partial<PassRequest> = {}) {
    const { proof } = judgeMerge(question(), facts({ readAt: clock.now() }));
    if (!proof) throw new Error('these facts must merge');
    const passed = await gates.pass({
      key: KEY,
      proof,
      content: closed.content,
      runId: 'run_1',
      invocationId: 'inv_1',
      installationId: 1,
      leaseMs: LEASE_MS,
      refuseOvertaken: async () => undefined,
      ...more,
    });
    if (passed.kind !== 'open') return passed;
    const { note, ...opened } = passed;
    await storage.transaction(note);
    return opened;
  }

  test('stays green while its lease lasts', async () => {
    await pass();
    clock.advance(LEASE_MS - 1);
    await perform();
    expect(told).toEqual(['in_progress', 'green']);
  });

  test('is closed by the outbox when nobody renews its lease', async () => {
    await pass();
    clock.advance(LEASE_MS);
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress']);
  });

  test('is closed without a look at what the process before has written', async () => {
    expect(recalled).toBe(1);
    await pass();
    clock.advance(LEASE_MS);
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress']);
    expect(recalled).toBe(1);
  });

  test('is closed by the outbox when the process dies before GitHub answers', async () => {
    meanwhile = () => Promise.reject(new Error('killed'));
    await expect(pass()).rejects.toThrow('killed');
    clock.advance(LEASE_MS);
    await perform();
    expect(told.at(-1)).toBe('in_progress');
  });

  test('whose opening was never answered is closed at once, and again when that request must have ended', async () => {
    meanwhile = () => Promise.reject(new Error('cut'));
    await expect(pass()).rejects.toThrow('cut');
    await close();
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress']);
    clock.advance(10_000);
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress', 'in_progress']);
    await perform();
    expect(told).toHaveLength(4);
  });

  test.each(['forbidden', 'invalid'] as const)(
    'that GitHub refuses to close (%s) is retried until it is closed',
    async (kind) => {
      await pass();
      await close();
      refuse = new GitHubError(kind, 422, 'no');
      expect(await jobs.run({ key: KEY }, new AbortController().signal)).toEqual({
        kind: 'reschedule',
        at: new Date(clock.now().getTime() + 15_000),
      });
      refuse = undefined;
      await perform();
      expect(told).toEqual(['in_progress', 'green', 'in_progress']);
    },
  );

  test('is renewed without a request to GitHub', async () => {
    const since = clock.now();
    await pass();
    clock.advance(LEASE_MS - 1);
    expect(await pass()).toEqual({ kind: 'open', since });
    clock.advance(LEASE_MS - 1);
    await perform();
    expect(told).toEqual(['in_progress', 'green']);
  });

  test('is closed at once with the text that it had before', async () => {
    await pass();
    await close();
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress']);
  });

  test('that is open goes before other work when it is to be closed, and when its lease ends', async () => {
    enqueued = [];
    await pass();
    await close();
    expect(enqueued.map(({ worth }) => worth)).toEqual(['first', 'first']);
  });

  test('that was closed while its opening was under way is closed again', async () => {
    meanwhile = async () => {
      await close();
      await perform();
    };
    await pass();
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress', 'in_progress']);
  });

  test('is not opened for a caller whose facts are out of date', async () => {
    await expect(pass({ refuseOvertaken: (tx) => refuseOvertaken(tx, 'run_1', 'ses_1') })).rejects.toThrow(
      'nothing was sent',
    );
    expect(told).toEqual(['in_progress']);
  });

  test('is not opened while the outbox is writing to it', async () => {
    const at = clock.now();
    await storage.transaction(async (tx) => {
      await tx.jobs.insert({ kind: 'effect', key: `effect:${KEY}`, payload: '{}', runAt: at });
      await tx.jobs.claim(at, new Date(at.getTime() + 30_000), 'token', 1);
    });
    expect(await pass()).toEqual({ kind: 'busy' });
  });

  test('stays green after the pull request is merged, until it is closed for another one', async () => {
    await pass();
    await storage.transaction((tx) => gates.settle(tx, KEY, clock.now()));
    clock.advance(86_400_000);
    await perform();
    expect(told).toEqual(['in_progress', 'green']);
    await close();
    await perform();
    expect(told).toEqual(['in_progress', 'green', 'in_progress']);
  });

  test('adds a line to the audit log each time that it opens and closes', async () => {
    await pass();
    await close();
    await perform();
    await pass();
    clock.advance(LEASE_MS);
    await perform();
    const lines = await storage.read.audit.page({ after: 0, limit: 10 });
    expect(lines.map(({ kind, entry }) => [kind, entry.people ?? entry.because])).toEqual([
      ['gate.opened', ['mia']],
      ['gate.closed', 'withdrawn'],
      ['gate.opened', ['mia']],
      ['gate.closed', 'not_renewed'],
    ]);
  });
});
