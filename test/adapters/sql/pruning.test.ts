import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import type { Firing } from '../../../src/ports/firings.ts';
import type { PullRequestState } from '../../../src/ports/retention.ts';
import type { Storage, Tx } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { writeMigratedDatabase } from '../../support/migrated-database.ts';
import { approval, comment, completed, delivery, runState, session } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';

const DAY = 86_400_000;
const now = new Date('2026-06-01T00:00:00.000Z');
const ago = (days: number) => new Date(now.getTime() - days * DAY);
const BEFORE = ago(90);
const folder = temporaryFolders();

let path: string;
let storage: Storage;
beforeEach(async () => {
  path = join(folder(), 'test.db');
  await writeMigratedDatabase(path);
  storage = await openStorage(`sqlite:${path}`, { clock: new ManualClock(now.toISOString()) });
  onTestFinished(() => storage.close());
});

const OVER: Partial<Run> = {
  status: 'completed',
  reason: completed,
  createdAt: ago(101),
  updatedAt: ago(100),
  finishedAt: ago(100),
};
const place = { repositoryId: 70, number: 3, repository: 'acme/rocket', installationId: 7 };
const pull =
  (state: PullRequestState, days = 100) =>
  (tx: Tx) =>
    tx.pullRequests.sawState(place, state, ago(days));
const aRun =
  (id: string, over: Partial<Run> = {}) =>
  async (tx: Tx) => {
    await tx.runs.insert(runState(id, { ...OVER, ...over }));
    await tx.runs.insertSession(session(`ses-${id}`, `${id}-inv0`));
    await tx.artifacts.insert({
      id: `art-${id}`,
      runId: id,
      invocationId: `${id}-inv0`,
      sessionId: `ses-${id}`,
      createdAt: ago(100),
      kind: 'log',
      name: 'a.log',
      content: null,
      filePath: `${id}/a.log`,
    });
  };
const job = (kind: string, key: string) => (tx: Tx) =>
  tx.jobs.insert({ kind, key, payload: '{}', runAt: ago(-1) });
const effect =
  (key: string, status: 'pending' | 'done' | 'failed', begun = true) =>
  async (tx: Tx) => {
    await tx.effects.request({ id: key, key, effect: comment('x'), runId: 'run1', at: ago(100) });
    const row = await tx.effects.get(key);
    if (!row || status === 'pending') return;
    const { desiredHash } = row;
    await tx.effects.saveProgress({ ...row, status, begun, appliedHash: desiredHash, updatedAt: ago(100) });
  };
const question = (status: 'open' | 'countersigned' | 'rejected' | 'void') => (tx: Tx) =>
  tx.approvals.insert(approval('apr1', 'run1', { status }));

type Act = (tx: Tx) => Promise<unknown>;
async function given(...acts: Act[]): Promise<void> {
  await storage.transaction(async (tx) => {
    for (const act of acts) await act(tx);
  });
}

/** What retention deletes does not depend on what is archived. */
async function archiveAll(): Promise<void> {
  const { ids } = await storage.read.runs.archivable({ after: undefined, before: now, limit: 99 });
  await storage.transaction((tx) => tx.runs.archive(ids, now));
}

const remove = (...args: Parameters<Tx['pruning']['remove']>) =>
  storage.transaction((tx) => tx.pruning.remove(...args));

/** Rows of every table, except those that every database has. */
function rowsLeft(): Record<string, number> {
  const db = new BetterSqlite3(path, { readonly: true });
  const tables = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('schema_migrations', 'status_counts')",
    )
    .pluck()
    .all();
  const counts = tables.map((table): [string, number] => [
    table,
    Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()),
  ]);
  db.close();
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

describe('a run that ended long ago', () => {
  const cases: [name: string, isRemoved: boolean, ...acts: Act[]][] = [
    ['of a merged pull request is removed', true, pull('merged'), aRun('run1')],
    ['of a closed pull request is removed', true, pull('closed'), aRun('run1')],
    ['of a repository that is out of reach is removed', true, pull('gone'), aRun('run1')],
    ['of no pull request is removed', true, aRun('run1', { pullRequest: null })],
    ['of an open pull request is kept', false, pull('open'), aRun('run1')],
    ['of a pull request that nobody has looked at is kept', false, aRun('run1')],
    ['of a pull request that was closed lately is kept', false, pull('closed', 5), aRun('run1')],
    [
      'is kept while it is not over',
      false,
      pull('merged'),
      aRun('run1', { status: 'waiting_ci', finishedAt: null }),
    ],
    ['is kept when it ended lately', false, pull('merged'), aRun('run1', { finishedAt: ago(5) })],
    ['is kept beside an open question', false, pull('merged'), aRun('run1'), question('open')],
    [
      'is removed with a question that was countersigned',
      true,
      pull('merged'),
      aRun('run1'),
      question('countersigned'),
    ],
    [
      'is kept when it was rejected and its pull request can be reopened',
      false,
      pull('closed'),
      aRun('run1'),
      question('rejected'),
    ],
    [
      'is kept when it was countersigned, which may take back a rejection, and its pull request can be reopened',
      false,
      pull('closed'),
      aRun('run1'),
      question('countersigned'),
    ],
    [
      'is removed when it was rejected and its pull request was merged',
      true,
      pull('merged'),
      aRun('run1'),
      question('rejected'),
    ],
    [
      'is kept while something is to be written to GitHub',
      false,
      pull('merged'),
      aRun('run1'),
      effect('check_run:run1', 'pending'),
    ],
    [
      'is removed with what was written to GitHub',
      true,
      pull('merged'),
      aRun('run1'),
      effect('check_run:run1', 'done'),
    ],
    [
      'is kept with words that an app out of reach could not say',
      false,
      pull('gone'),
      aRun('run1'),
      effect('check_run:run1', 'failed'),
    ],
    [
      'is removed with what GitHub refused for good',
      true,
      pull('gone'),
      aRun('run1'),
      effect('check_run:run1', 'failed', false),
    ],
    ['is kept while a job wakes it', false, pull('merged'), aRun('run1'), job('wake', 'wake:run1')],
    [
      'is kept while a job of one of its sessions waits',
      false,
      pull('merged'),
      aRun('run1'),
      job('session', 'session:ses-run1'),
    ],
    [
      'is kept while an operator’s signal waits',
      false,
      pull('merged'),
      aRun('run1'),
      job('signal', 'run:run1'),
    ],
    [
      'is kept while an event of its pull request waits',
      false,
      pull('merged'),
      aRun('run1'),
      job('event', 'pr:70#3'),
    ],
    [
      'is kept beside an unfinished run of its pull request',
      false,
      pull('merged'),
      aRun('run1'),
      aRun('run2', { status: 'running', finishedAt: null }),
    ],
    [
      'is kept while the delivery that began it is unfinished',
      false,
      pull('merged'),
      (tx) => tx.deliveries.record([delivery('g')]),
      aRun('run1', { deliveryId: 1 }),
    ],
  ];

  it.each(cases)('%s', async (_, isRemoved, ...acts) => {
    await given(...acts);
    expect(await remove('runs', ['run1'], BEFORE)).toBe(isRemoved ? 1 : 0);
    expect((await storage.read.runs.load('run1')) === undefined).toBe(isRemoved);
    expect(await storage.read.pruning.blobsToDelete(9)).toEqual(isRemoved ? ['run1/a.log'] : []);
  });

  it.each(cases)('%s, also if it was archived', async (_, isRemoved, ...acts) => {
    await given(...acts);
    await archiveAll();
    expect(await remove('runs', ['run1'], BEFORE)).toBe(isRemoved ? 1 : 0);
    expect((await storage.read.runs.load('run1')) === undefined).toBe(isRemoved);
    expect(await storage.read.pruning.blobsToDelete(9)).toEqual(isRemoved ? ['run1/a.log'] : []);
  });

  it('is deleted completely, except for the paths of its blobs', async () => {
    const end = { ...runState('run1', { ...OVER, status: 'running', finishedAt: null }) };
    await given(
      pull('merged'),
      aRun('run1', { status: 'running', finishedAt: null }),
      question('countersigned'),
      effect('check_run:run1', 'done'),
      (tx) => tx.runs.save({ ...end, run: { ...end.run, ...OVER } }, { kind: 'time' }),
      (tx) =>
        tx.skillTraces.insert({
          of: { runId: 'run1', sessionId: 'ses-run1' },
          skill: 's',
          skillId: 's1',
          artifact: 'prompts/a.md',
          kind: 'prompt_template',
          inputPath: 'traces/run1/in',
          outputPath: 'traces/run1/out',
          error: null,
          startedAt: ago(100),
          completedAt: ago(100),
          tokens: null,
          model: null,
          cost: null,
          assertionsRun: 0,
          assertionsPassed: 0,
        }),
    );
    await remove('runs', ['run1'], BEFORE);
    expect(rowsLeft()).toEqual({ pull_requests: 1, blobs_to_delete: 3 });
    expect(await remove('pull_requests', ['70#3'], BEFORE)).toBe(1);
    expect(rowsLeft()).toEqual({ blobs_to_delete: 3 });
  });
});

describe('the files of a run that ended long ago', () => {
  const cases: [name: string, isRemoved: boolean, ...acts: Act[]][] = [
    ['are removed when the pull request is closed', true, pull('closed', 1), aRun('run1')],
    [
      'are kept of the newest run of a chain on an open pull request, because it can continue',
      false,
      pull('open', 1),
      aRun('run1'),
    ],
    [
      'are removed once a newer run of the chain replaced it',
      true,
      pull('open', 1),
      aRun('run1'),
      aRun('run2', { createdAt: ago(50), finishedAt: ago(49) }),
    ],
    [
      'are kept beside a newer run of another chain',
      false,
      pull('open', 1),
      aRun('run1'),
      aRun('run2', { chain: 'other', createdAt: ago(50), finishedAt: ago(49) }),
    ],
    ['are kept beside an open approval', false, pull('closed', 1), aRun('run1'), question('open')],
  ];

  it.each(cases)('%s', async (_, isRemoved, ...acts) => {
    await given(...acts);
    expect(await remove('artifacts', ['art-run1'], BEFORE)).toBe(isRemoved ? 1 : 0);
    expect(await storage.read.pruning.blobsToDelete(9)).toEqual(isRemoved ? ['run1/a.log'] : []);
    expect(await storage.read.runs.load('run1')).toBeDefined();
  });

  it.each(cases)('%s, also if they were archived', async (_, isRemoved, ...acts) => {
    await given(...acts);
    await archiveAll();
    const { ids } = await storage.read.pruning.page('archives', { after: null, before: BEFORE, limit: 9 });
    await remove('archives', ids, BEFORE);
    expect(await remove('artifacts', ['art-run1'], BEFORE)).toBe(isRemoved ? 1 : 0);
    expect(await storage.read.pruning.blobsToDelete(9)).toEqual(isRemoved ? ['run1/a.log'] : []);
    expect(await storage.read.runs.load('run1')).toBeDefined();
  });

  it('are removed, but the verdicts of its gates stay as long as the run', async () => {
    await given(pull('merged'), aRun('run1'), (tx) =>
      tx.artifacts.insert({
        id: 'verdict',
        runId: 'run1',
        invocationId: 'run1-inv0',
        sessionId: 'ses-run1',
        createdAt: ago(100),
        kind: 'gate_verdict',
        name: 'gate_verdict',
        content: '{}',
        filePath: null,
      }),
    );
    expect(await remove('artifacts', ['art-run1', 'verdict'], BEFORE)).toBe(1);
    expect(await storage.read.artifacts.get('verdict')).toBeDefined();
  });
});

describe('a delivery', () => {
  const record = (tx: Tx) =>
    tx.deliveries.record([
      delivery('g1', { receivedAt: ago(100) }),
      delivery('g2', { receivedAt: ago(100) }),
    ]);
  const done =
    (...ids: number[]) =>
    async (tx: Tx) => {
      await tx.deliveries.claimUnqueued(9);
      for (const id of ids) await tx.deliveries.setStatus(id, 'done', ago(100));
    };

  it('loses its body and keeps its GUID, so that GitHub’s second sending is recognised', async () => {
    await given(record, done(1, 2));
    expect(await remove('bodies', [1, 2], BEFORE)).toBe(2);
    expect(rowsLeft()).toEqual({ deliveries: 2 });
    const [again] = await storage.transaction((tx) => tx.deliveries.record([delivery('g1')]));
    expect(again?.fresh).toBe(false);
  });

  it('keeps its body, and those of its pack, while it is unfinished', async () => {
    await given(record, done(1));
    expect(await remove('bodies', [1, 2], BEFORE)).toBe(1);
    expect(await remove('deliveries', [1, 2], BEFORE)).toBe(1);
    expect((await storage.read.deliveries.get(2))?.body).toEqual(Buffer.from(delivery('g2').body));
  });

  it('stays as long as a run that came from it', async () => {
    await given(record, done(1, 2), aRun('run1', { deliveryId: 1 }));
    await remove('bodies', [1, 2], BEFORE);
    expect(await remove('deliveries', [1, 2], BEFORE)).toBe(1);
    expect(await storage.read.deliveries.known(['g1', 'g2'])).toEqual(new Set(['g1']));
  });
});

describe('a status comment', () => {
  it.each([
    ['is deleted with its merged pull request', 'merged', 1],
    ['stays if the pull request can be reopened', 'closed', 0],
  ] as const)('%s', async (_, state, removed) => {
    await given(pull(state), aRun('run1'), effect('status:70#3', 'done'));
    await remove('runs', ['run1'], BEFORE);
    expect(await storage.read.effects.get('status:70#3')).toBeDefined();
    expect(await remove('pull_requests', ['70#3'], BEFORE)).toBe(removed);
    expect((await storage.read.effects.get('status:70#3')) === undefined).toBe(removed === 1);
  });
});

describe('the pages of old runs', () => {
  it('come to an end, and name every old run once and no young one', async () => {
    const ids = Array.from({ length: 7 }, (_, n) => `run${n}`);
    await given(...ids.map((id) => aRun(id, { createdAt: ago(100) })), aRun('young', { createdAt: ago(3) }));
    const seen: unknown[] = [];
    for (let after: Parameters<Tx['pruning']['page']>[1]['after'] = null; ; ) {
      const page = await storage.read.pruning.page('runs', { after, before: BEFORE, limit: 3 });
      seen.push(...page.ids);
      after = page.next;
      if (after === null) break;
    }
    expect(seen).toEqual(ids);
  });
});

/** All pages of a kind, each removed before the next is read. */
async function prune(kind: 'firings' | 'fired_once', limit: number): Promise<number> {
  let count = 0;
  for (let after: Parameters<Tx['pruning']['page']>[1]['after'] = null; ; ) {
    const page = await storage.read.pruning.page(kind, { after, before: BEFORE, limit });
    count += await remove(kind, page.ids, BEFORE);
    after = page.next;
    if (after === null) return count;
  }
}

describe('a firing', () => {
  const firing = (id: string, status: Firing['status'], days: number) => (tx: Tx) =>
    tx.firings.insert({
      id,
      repositoryId: 70,
      chain: 'nightly',
      trigger: 'every 1d',
      occasion: id,
      installationId: 7,
      repository: 'acme/rocket',
      status,
      reason: status === 'skipped' ? 'overlap' : null,
      summary: null,
      count: 1,
      runId: `run-${id}`,
      pullRequest: null,
      dueAt: ago(days),
      updatedAt: ago(days),
    });

  it('is removed when it is old, unless it still has to happen, and the counts follow', async () => {
    await given(
      ...['a', 'b', 'c'].map((id) => firing(id, 'skipped', 100)),
      firing('fired', 'fired', 100),
      firing('due', 'due', 100),
      firing('queued', 'queued', 100),
      firing('young', 'skipped', 3),
    );
    expect(await prune('firings', 2)).toBe(4);
    const left = await storage.read.firings.list({ limit: 99 });
    expect(left.map(({ id }) => id).toSorted()).toEqual(['due', 'queued', 'young']);
    expect(await storage.read.firings.counts()).toEqual([
      { status: 'due', reason: '', count: 1 },
      { status: 'queued', reason: '', count: 1 },
      { status: 'skipped', reason: 'overlap', count: 1 },
    ]);
  });
});

describe('what an event fired once', () => {
  const repository = { id: 70, owner: 'acme', name: 'rocket' };
  const issue = { installation_id: 7, repository, issue: 1, title: 'a', author: 'ada', labels: [] };
  const fired = (id: string, event: Run['event'], createdAt = ago(101)) =>
    aRun(id, {
      pullRequest: null,
      createdAt,
      event,
      facts: { ...runState(id).run.facts, trigger: { kind: 'event', actor: 'ada', event: event.kind } },
    });
  const wasFired = (id: string, event: string) =>
    storage.read.runs.wasFired({
      repositoryId: 70,
      headSha: runState(id).run.headSha,
      chain: runState(id).run.chain,
      subject: JSON.stringify([event, null, null, null]),
    });

  it.each<[string, Run['event'], number]>([
    ['goes when only a delivery could report it again', { kind: 'issue.created', ...issue }, 1],
    [
      'stays for a merge, which GitHub can report at any time',
      { kind: 'pr.merged', installation_id: 7, repository, pull_request: 3 },
      0,
    ],
  ])('%s', async (_, event, count) => {
    await given(fired('run1', event));
    await remove('runs', ['run1'], BEFORE);
    expect(await storage.read.runs.get('run1')).toBeUndefined();
    expect(await wasFired('run1', event.kind)).toBe(true);
    expect(await prune('fired_once', 1)).toBe(count);
    expect(await wasFired('run1', event.kind)).toBe(count === 0);
  });
});
