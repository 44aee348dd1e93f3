import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { conditional, createAnswerCache, type Fetch } from '../../src/adapters/octokit/transport.ts';
import { bounded } from '../../src/core/bounded-fetch.ts';
import { nextAfter, scheduleProblem, timezoneProblem } from '../../src/domain/chain/schedule.ts';
import { loadedBy } from '../support/loaded-modules.ts';

/*
 * Each thread has its own copy of what it loads. The intake thread answers requests and records them; the rest is the
 * engine's.
 */
it('the intake thread loads the log and SQLite, and no validation, query builder or metrics', {
  tags: 'slow',
}, async () => {
  // It ends at once, because it is no thread here, after its modules are loaded.
  const { own, packages, builtins } = await loadedBy(['src/intake-thread.ts']);

  expect(packages).toEqual([
    '@pinojs/redact',
    'atomic-sleep',
    'better-sqlite3',
    'lru-cache',
    'on-exit-leak-free',
    'pino',
    'pino-std-serializers',
    'quick-format-unescaped',
    'safe-stable-stringify',
    'sonic-boom',
    'thread-stream',
  ]);
  expect(own.length).toBeLessThanOrEqual(60);
  // Imported as a module, it would load Node's HTTP client, too.
  expect(builtins).not.toContain('node:http');
});

it('GitHub’s answers are kept for the next request until they exceed their bytes, the oldest first', async () => {
  const kept = 100_000;
  const asked: (string | null)[] = [];
  const gitHub: Fetch = async (input, init) => {
    asked.push(new Headers(init?.headers).get('if-none-match'));
    // Random, so that it cannot be compressed.
    return new Response(randomBytes(kept / 10), { headers: { etag: `"${input}"` } });
  };
  const cache = createAnswerCache(kept);
  const fetch = conditional(gitHub, cache, 'app');
  for (let index = 0; index < 20; index++) await fetch(`https://github.test/${index}`, { method: 'GET' });

  expect(cache.calculatedSize).toBeLessThanOrEqual(kept);
  asked.length = 0;
  for (const index of [19, 15, 5]) await fetch(`https://github.test/${index}`, { method: 'GET' });
  expect(asked).toEqual(['"https://github.test/19"', '"https://github.test/15"', null]);
});

it('an answer that GitHub confirms has the bytes and the pages of the first one', async () => {
  const body = JSON.stringify({ title: 'Größe 😀'.repeat(500) });
  const link = '<https://github.test/list?page=2>; rel="next"';
  const answers = [
    new Response(body, { headers: { etag: '"1"', link, 'content-type': 'application/json' } }),
    new Response(null, { status: 304, headers: { 'x-ratelimit-remaining': '7' } }),
  ];
  const fetch = conditional(async () => answers.shift() as Response, createAnswerCache(), 'app');
  await fetch('https://github.test/list', { method: 'GET' });
  const confirmed = await fetch('https://github.test/list', { method: 'GET' });

  expect(await confirmed.text()).toBe(body);
  expect(Object.fromEntries(confirmed.headers)).toMatchObject({
    link,
    'content-type': 'application/json',
    'x-ratelimit-remaining': '7',
  });
});

it('the timer of a request ends with its answer, so that it keeps nothing of the request in memory', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const timers: number[] = [];
  const gitHub: Fetch = async () => {
    timers.push(vi.getTimerCount());
    return new Response('{}');
  };
  await bounded(gitHub, { timeoutMs: 10_000, maxBytes: 100 })('https://github.test/', { method: 'GET' });
  timers.push(vi.getTimerCount());

  expect(timers).toEqual([1, 0]);
});

it('a schedule in UTC is read and evaluated without the data of time zones, which takes 7 MB to load', () => {
  const { DateTimeFormat } = Intl;
  const unused = () => {
    throw new Error('the data of time zones was loaded');
  };
  Object.assign(Intl, { DateTimeFormat: unused });
  try {
    expect(scheduleProblem('17 3 * * 1-5')).toBeUndefined();
    expect(timezoneProblem('UTC')).toBeUndefined();
    const next = nextAfter({ schedule: '18 3 * * 1-5', timezone: 'UTC' }, new Date('2026-11-20T12:00:00Z'));
    expect(next).toEqual(new Date('2026-11-23T03:18:00Z'));
  } finally {
    Object.assign(Intl, { DateTimeFormat });
  }
});
