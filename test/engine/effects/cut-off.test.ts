import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Effect } from '../../../src/domain/effect/effect.ts';
import { effectJobs } from '../../../src/engine/effects/perform.ts';
import type { WriteLimiter } from '../../../src/engine/effects/write-limiter.ts';
import type { GitHub } from '../../../src/ports/github.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { everyWriter } from '../../support/writers.ts';

/** Only a refused notice needs it. */
const NO_QUEUE = {} as Queue;

const KEY = 'comment:1';
const comment: Effect = {
  kind: 'comment',
  installation_id: 1,
  owner: 'octo',
  repo: 'app',
  issue: 1,
  marker: '<!-- countersign:comment 1 -->',
  body: '<!-- countersign:comment 1 -->\nThank you.',
};
/** Nobody asks it here, because nothing has waited. */
const NOBODY = {} as GitHub;
const ANY_RATE = {
  knows: () => true,
  take: () => undefined,
  hold: () => undefined,
} as unknown as WriteLimiter;

const clock = new ManualClock('2026-03-02T09:00:00.000Z');
const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
const newFolder = temporaryFolders();
let path: string;
let storage: Storage;
let jobs: ReturnType<typeof effectJobs>;

beforeEach(async () => {
  path = join(newFolder(), 'test.db');
  storage = await openStorage(`sqlite:${path}`, { clock });
  jobs = effectJobs({
    storage,
    github: NOBODY,
    clock,
    log: silentLog,
    limiter: ANY_RATE,
    writers: everyWriter(NOBODY),
    queue: NO_QUEUE,
  });
  await storage.transaction((tx) =>
    tx.effects.request({ id: 'eff_1', key: KEY, effect: comment, runId: null, at: clock.now() }),
  );
});
afterEach(() => storage.close());

const onInterrupted = () => storage.transaction((tx) => jobs.onInterrupted(tx, { key: KEY }));

async function save(change: { begun: boolean; githubId: number | null }): Promise<void> {
  const row = await storage.read.effects.get(KEY);
  if (!row) throw new Error('the effect is gone');
  await storage.transaction((tx) => tx.effects.saveProgress({ ...row, ...change }));
}

test.each([
  ['a create', { begun: true, githubId: null }],
  ['an update', { begun: true, githubId: 7 }],
])('%s that was interrupted is left alone for ten seconds', async (_, was) => {
  await save(was);
  await onInterrupted();
  expect(await jobs.run({ key: KEY }, new AbortController().signal)).toEqual({
    kind: 'defer',
    at: inMs(10_000),
  });
});

test('an effect that was never sent does not wait', async () => {
  await onInterrupted();
  expect((await storage.read.effects.get(KEY))?.progress).toEqual({});
});

test('an effect that cannot be parsed does not prevent others from being taken over', async () => {
  await save({ begun: true, githubId: null });
  const file = new BetterSqlite3(path);
  file.prepare('UPDATE effects SET progress_json = ?').run('{"of_a_newer_version":1}');
  file.close();
  await expect(onInterrupted()).resolves.toBeUndefined();
});
