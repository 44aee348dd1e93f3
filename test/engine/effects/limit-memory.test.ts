import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OctokitGitHub } from '../../../src/adapters/octokit/octokit-github.ts';
import { createLimitMemory } from '../../../src/engine/effects/limit-memory.ts';
import type { LimitMemory } from '../../../src/ports/github.ts';
import { INSTALLATION, NOW, REPO } from '../../adapters/octokit/fake-server.ts';
import { scriptGitHub } from '../../adapters/octokit/scripted.ts';
import { ManualClock } from '../../support/clock.ts';
import { sqliteTestDatabase } from '../../support/temp.ts';

const REPOSITORY = '/repos/acme/shop';
const HOUR = 3_600_000;
const MESSAGE = { message: 'You have exceeded a secondary rate limit.' };

let clock: ManualClock;
let memory: LimitMemory;
let remove: () => Promise<void>;
beforeEach(async () => {
  clock = new ManualClock(NOW.toISOString());
  const database = await sqliteTestDatabase(clock);
  remove = database.remove;
  memory = createLimitMemory(database.storage, clock);
});
afterEach(() => remove());

/** Another process that works for the installation. */
const newProcess = () => scriptGitHub({ clock, limitMemory: memory });

const read = (github: OctokitGitHub) =>
  github
    .reader(INSTALLATION)
    .repository(REPO)
    .then(
      () => 'read',
      ({ status, retryAt }: { status: number; retryAt: Date }) =>
        `${status === 0 ? 'not sent' : status}, again in ${(retryAt.getTime() - clock.now().getTime()) / 1_000} s`,
    );

test('a pause that GitHub asked one process for holds for the next one', async () => {
  const { github, rest } = newProcess();
  rest.get(REPOSITORY).reply(403, MESSAGE, { 'retry-after': '90' });
  expect(await read(github)).toBe('403, again in 90 s');

  const next = newProcess();
  next.rest.get(REPOSITORY).reply(200, { id: 7, default_branch: 'main' });
  clock.advance(60_000);
  expect(await read(next.github)).toBe('not sent, again in 30 s');
  clock.advance(30_000);
  expect(await read(next.github)).toBe('read');
});

test('a process that gets an installation back learns of the pause that another one was asked for', async () => {
  const first = newProcess();
  first.rest.get(REPOSITORY).times(2).reply(200, { id: 7, default_branch: 'main' });
  expect(await read(first.github)).toBe('read');
  await memory.note(INSTALLATION, { pauseUntil: new Date(NOW.getTime() + 90_000), ofWrite: false });
  expect(await read(first.github)).toBe('read');

  first.github.forgetPauses([INSTALLATION]);
  expect(await read(first.github)).toBe('not sent, again in 90 s');
});

test('a pause is recalled with the next request when the database did not answer for the first one', async () => {
  await memory.note(INSTALLATION, { pauseUntil: new Date(NOW.getTime() + 90_000), ofWrite: false });
  let isAway = true;
  const limitMemory: LimitMemory = {
    ...memory,
    recall: (id) => (isAway ? Promise.reject(new Error('the database is away')) : memory.recall(id)),
  };
  const { github, rest } = scriptGitHub({ clock, limitMemory });
  rest.get(REPOSITORY).reply(200, { id: 7, default_branch: 'main' });
  expect(await read(github)).toBe('read');
  isAway = false;
  expect(await read(github)).toBe('not sent, again in 90 s');
});

test('a part of the app that asks GitHub beside the engine, such as Studio, learns of each pause of the engine', async () => {
  const { github, rest } = scriptGitHub({ clock, limitMemory: memory, sharesLimits: true });
  rest.get(REPOSITORY).times(2).reply(200, { id: 7, default_branch: 'main' });
  expect(await read(github)).toBe('read');
  await memory.note(INSTALLATION, { pauseUntil: new Date(NOW.getTime() + 90_000), ofWrite: false });
  expect(await read(github)).toBe('not sent, again in 90 s');
  clock.advance(90_000);
  expect(await read(github)).toBe('read');
});

test('a shorter pause does not end a longer one', async () => {
  await memory.note(INSTALLATION, { pauseUntil: new Date(NOW.getTime() + 90_000), ofWrite: true });
  clock.advance(1_000);
  await memory.note(INSTALLATION, { pauseUntil: new Date(NOW.getTime() + 30_000), ofWrite: false });
  expect(await memory.recall(INSTALLATION)).toEqual({
    pauseUntil: new Date(NOW.getTime() + 90_000),
    writeRefusedAt: NOW,
  });
});

test('a pause of years ends for the next process an hour after it was asked for', async () => {
  await memory.note(INSTALLATION, { pauseUntil: new Date('2090-01-01T00:00:00Z'), ofWrite: false });
  expect(await memory.recall(INSTALLATION)).toMatchObject({ pauseUntil: new Date(NOW.getTime() + HOUR) });
});
