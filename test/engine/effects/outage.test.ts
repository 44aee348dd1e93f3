import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Effect } from '../../../src/domain/effect/effect.ts';
import { effectJobs } from '../../../src/engine/effects/perform.ts';
import type { WriteLimiter } from '../../../src/engine/effects/write-limiter.ts';
import { type GitHub, GitHubError } from '../../../src/ports/github.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { everyWriter } from '../../support/writers.ts';

/** Only a refused notice needs it. */
const NO_QUEUE = {} as Queue;

const KEY = 'label:1';
const away = new GitHubError('unavailable', 502, 'POST /labels: GitHub answered 502');
const github = {
  turn: () => undefined,
  writer: () => ({ label: () => Promise.reject(away) }),
} as unknown as GitHub;
const ANY_RATE = {
  knows: () => true,
  take: () => undefined,
  hold: () => undefined,
} as unknown as WriteLimiter;

const newFolder = temporaryFolders();
let clock: ManualClock;
let path: string;
let storage: Storage;
let jobs: ReturnType<typeof effectJobs>;

beforeEach(async () => {
  clock = new ManualClock('2026-03-02T09:00:00.000Z');
  path = join(newFolder(), 'test.db');
  storage = await openStorage(`sqlite:${path}`, { clock });
  jobs = effectJobs({
    storage,
    github,
    clock,
    log: silentLog,
    limiter: ANY_RATE,
    writers: everyWriter(github),
    queue: NO_QUEUE,
  });
  await request(['x']);
});
afterEach(() => storage.close());

function request(labels: string[]): Promise<boolean> {
  const effect: Effect = { kind: 'label', installation_id: 1, owner: 'octo', repo: 'app', issue: 1, labels };
  return storage.transaction((tx) =>
    tx.effects.request({ id: 'eff_1', key: KEY, effect, runId: null, at: clock.now() }),
  );
}

test('an effect that GitHub fails to take is left alone for ten seconds', async () => {
  await expect(jobs.run({ key: KEY }, new AbortController().signal)).rejects.toThrow('502');
  const at = new Date(clock.now().getTime() + 10_000);
  expect(await jobs.run({ key: KEY }, new AbortController().signal)).toEqual({ kind: 'defer', at });
});

test('an effect whose retries are exhausted has failed, with the reason', async () => {
  await jobs.onRetriesExhausted({ key: KEY }, away);
  expect(await storage.read.effects.get(KEY)).toMatchObject({ status: 'failed', error: away.message });
});

test('an effect whose retries ran out during an outage is retried on the next request, any other failed one after an hour', async () => {
  await jobs.onRetriesExhausted({ key: KEY }, new Error('the process died of it'));
  clock.advance(3_599_999);
  expect(await request(['x'])).toBe(false);
  clock.advance(1);
  expect(await request(['x'])).toBe(true);
  await jobs.onRetriesExhausted({ key: KEY }, away);
  expect(await request(['x'])).toBe(true);
});

test('an effect that cannot be parsed fails when its retries are exhausted', async () => {
  const file = new BetterSqlite3(path);
  file.prepare('UPDATE effects SET progress_json = ?').run('{"of_a_newer_version":1}');
  file.close();
  await expect(jobs.onRetriesExhausted({ key: KEY }, away)).resolves.toBeUndefined();
});

test('after an update whose answer was lost, a request for the earlier content is sent', async () => {
  const row = await storage.read.effects.get(KEY);
  if (!row) throw new Error('the effect is gone');
  await storage.transaction((tx) =>
    tx.effects.saveProgress({ ...row, status: 'done', appliedHash: row.desiredHash, begun: true }),
  );
  await request(['y']);
  await expect(jobs.run({ key: KEY }, new AbortController().signal)).rejects.toThrow('502');
  expect(await request(['x'])).toBe(true);
});
