import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CountersignError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Effect } from '../../src/effect/effect.ts';
import { effectJobSchema } from '../../src/effect/outbox.ts';
import type { Pace } from '../../src/effect/pace.ts';
import { createPerformer, type Performer } from '../../src/effect/perform.ts';
import { type GitHub, GitHubError } from '../../src/github/github.ts';
import type { NewJob } from '../../src/queue/queue.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { temporaryFolders } from '../contract/temp.ts';
import { ManualClock } from '../support/clock.ts';

const KEY = 'label:1';
const HOUR_MS = 3_600_000;
const away = new GitHubError('unavailable', 502, 'POST /labels: GitHub answered 502');
const github = {
  writer: () => ({ label: () => Promise.reject(away) }),
} as unknown as GitHub;
const ANY_PACE = { take: () => undefined, hold: () => undefined } as unknown as Pace;

const newFolder = temporaryFolders();
let clock: ManualClock;
let path: string;
let storage: Storage;
let performer: Performer;
let enqueued: NewJob[];

beforeEach(async () => {
  clock = new ManualClock('2026-03-02T09:00:00.000Z');
  path = join(newFolder(), 'test.db');
  storage = await openStorage(`sqlite:${path}`, { clock });
  enqueued = [];
  const queue = { enqueue: async (_: unknown, ...jobs: NewJob[]) => void enqueued.push(...jobs) };
  performer = createPerformer({ storage, queue, github, clock, log: silentLog, pace: ANY_PACE });
  await wish(['x']);
});
afterEach(() => storage.close());

function wish(labels: string[]): Promise<boolean> {
  const effect: Effect = { kind: 'label', installation_id: 1, owner: 'octo', repo: 'app', issue: 1, labels };
  return storage.transaction((tx) =>
    tx.effects.wish({ id: 'eff_1', key: KEY, effect, runId: null, at: clock.now() }),
  );
}

test('an effect that GitHub fails at is left alone for ten seconds, and its tries go on being counted', async () => {
  await expect(performer.perform(KEY, 4)).rejects.toThrow('502');
  const later = new Date(clock.now().getTime() + 10_000);
  expect(await performer.perform(KEY, 5)).toEqual({ kind: 'again', at: later, attempts: 5 });
});

test('one that is given up while GitHub is away waits for it, and after a day it has failed for good', async () => {
  const since = clock.now().toISOString();
  const giveUpAgain = () => performer.giveUp(effectJobSchema.parse(enqueued.at(-1)?.payload), away);
  await performer.giveUp({ key: KEY }, away);
  clock.advance(12 * HOUR_MS);
  await giveUpAgain();
  expect(enqueued).toMatchObject([
    { kind: 'effect', key: `effect:${KEY}`, payload: { key: KEY, since } },
    { payload: { key: KEY, since }, runAt: new Date(clock.now().getTime() + 300_000) },
  ]);
  expect(await storage.read.effects.get(KEY)).toMatchObject({ status: 'pending', error: null });

  clock.advance(12 * HOUR_MS);
  await giveUpAgain();
  expect(enqueued).toHaveLength(2);
  expect(await storage.read.effects.get(KEY)).toMatchObject({ status: 'failed', error: away.message });
});

test('one whose process died in the last of its tries waits all the same, if GitHub was away before', async () => {
  await expect(performer.perform(KEY, 6)).rejects.toThrow('502');
  await performer.giveUp({ key: KEY }, new CountersignError('queue.given_up', 'It was begun 8 times.'));
  expect(enqueued).toHaveLength(1);
  expect(await storage.read.effects.get(KEY)).toMatchObject({ status: 'pending' });
});

test('one at which its process dies again and again is given up', async () => {
  await performer.giveUp({ key: KEY }, new CountersignError('queue.given_up', 'It was begun 8 times.'));
  expect(enqueued).toEqual([]);
  expect(await storage.read.effects.get(KEY)).toMatchObject({
    status: 'failed',
    error: 'It was begun 8 times.',
  });
});

test('one that cannot be read is given up without another try', async () => {
  const file = new BetterSqlite3(path);
  file.prepare('UPDATE effects SET progress_json = ?').run('{"of_a_newer_version":1}');
  file.close();
  await expect(performer.giveUp({ key: KEY }, away)).resolves.toBeUndefined();
  expect(enqueued).toEqual([]);
});

test('what was there before an update whose answer was lost is sent again', async () => {
  const row = await storage.read.effects.get(KEY);
  if (!row) throw new Error('the wish is gone');
  await storage.transaction((tx) =>
    tx.effects.saveProgress({ ...row, status: 'done', appliedHash: row.wishedHash, begun: true }),
  );
  await wish(['y']);
  await expect(performer.perform(KEY, 0)).rejects.toThrow('502');
  expect(await wish(['x'])).toBe(true);
});

test('one that fails for another reason waits for nothing', async () => {
  await performer.giveUp({ key: KEY }, new Error('It is broken.'));
  expect(enqueued).toEqual([]);
  expect(await storage.read.effects.get(KEY)).toMatchObject({ status: 'failed', error: 'It is broken.' });
});
