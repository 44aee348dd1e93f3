// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LOCK_WAIT_MS } from '../../src/adapters/sqlite/lock-wait.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import type { Timers } from '../../src/core/clock.ts';
import { approvals, countersign, MERGE_ONLY, open, start } from '../scenario/support.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { temporaryFolders } from '../support/temp.ts';
import { useChildren } from '../two-processes/child.ts';
import { keepingLog } from './log-lines.ts';

/** So many answers prove that the event loop turned as often, without measuring time. */
const PROBES = 20;

const startChild = useChildren();
const folder = temporaryFolders();

/** The app, whose waits for the lock last until the test ends them, and another process that can lock its database. */
async function startBesideAnother() {
  let elapsed = 0;
  const timers: Timers = {
    elapsedMs: () => elapsed,
    sleep: async (ms) => void (await sleep(Math.min(ms, 5))),
    after: () => () => {},
  };
  const { log, lines } = keepingLog();
  const harness = await start({ chain: MERGE_ONLY, folder: folder(), timers, log });
  const path = harness.config.databaseUrl.slice('sqlite:'.length);
  const other = startChild('../disk/locking-process.ts', [path]);
  const say = async (word: 'lock' | 'free', answer: RegExp) => {
    other.write(word);
    await other.line(answer);
  };
  return {
    harness,
    lines,
    lock: () => say('lock', /^locked$/),
    free: () => say('free', /^free$/),
    pass(ms: number) {
      elapsed += ms;
    },
  };
}

/** Sends a comment's webhook. @returns the status of the answer, once there is one. */
function send(
  { github, app }: Harness,
  number: number,
  guid: string,
): { status: number | undefined; answered: Promise<number> } {
  const { headers, body } = github.signedDelivery('issue_comment', {
    action: 'created',
    comment: { id: 1, body: 'Ping', user: { id: 1, login: 'ada', type: 'User' } },
    issue: { number, pull_request: {} },
    repository: { id: 1, name: 'app', owner: { login: 'octo' } },
    installation: { id: 1 },
  });
  const sent: { status: number | undefined; answered: Promise<number> } = {
    status: undefined,
    answered: fetch(`${app.url}${WEBHOOK_PATH}`, {
      method: 'POST',
      headers: { ...headers, 'x-github-delivery': guid },
      body,
    }).then(({ status }) => {
      sent.status = status;
      return status;
    }),
  };
  return sent;
}

async function probe({ app }: Harness, path: '/healthz' | '/readyz') {
  const answer = await fetch(`${app.url}${path}`);
  return { status: answer.status, body: await answer.json() };
}

const LOCKED = { status: 503, body: { error: 'Not ready: database (locked by another process).' } };

it('the event loop runs while another process holds the lock, and the waiting webhook is accepted afterwards', async () => {
  const { harness, lock, free } = await startBesideAnother();
  const { number } = await open(harness);
  await lock();
  const sent = send(harness, number, 'waited');
  for (let n = 0; n < PROBES; n++) expect((await probe(harness, '/healthz')).status).toBe(200);
  await expect.poll(() => probe(harness, '/readyz')).toEqual(LOCKED);
  expect(sent.status).toBeUndefined();

  await free();
  expect(await sent.answered).toBe(202);
  await harness.settle();
  expect(await probe(harness, '/readyz')).toEqual({ status: 200, body: { status: 'ready' } });
  await countersign(harness, number);
  expect(harness.github.merges).toMatchObject([{ number }]);
  expect(approvals(harness, number)).toHaveLength(1);
});

it('webhooks that waited for two lock timeouts are refused, and accepted once the lock is gone', async () => {
  const { harness, lines, lock, free, pass } = await startBesideAnother();
  const { number } = await open(harness);
  await lock();
  const first = send(harness, number, 'first');
  await expect.poll(() => probe(harness, '/readyz')).toEqual(LOCKED);
  const later = ['a', 'b', 'c'].map((guid) => send(harness, number, guid));
  for (let n = 0; n < PROBES; n++) await probe(harness, '/healthz');
  pass(LOCK_WAIT_MS);
  expect(await first.answered).toBe(503);
  for (let n = 0; n < PROBES; n++) await probe(harness, '/healthz');
  pass(LOCK_WAIT_MS);
  expect(await Promise.all(later.map(({ answered }) => answered))).toEqual([503, 503, 503]);
  expect(2 * LOCK_WAIT_MS).toBeLessThan(10_000);
  expect(await probe(harness, '/readyz')).toEqual(LOCKED);

  await free();
  await expect.poll(() => probe(harness, '/readyz')).toMatchObject({ status: 200 });
  const again = ['first', 'a', 'b', 'c'].map((guid) => send(harness, number, guid).answered);
  expect(await Promise.all(again)).toEqual([202, 202, 202, 202]);
  await harness.settle();
  expect(await harness.app.storage.read.runs.list({ active: true })).toMatchObject([{ repository: REPO }]);
  const told = lines.filter(
    ({ fields }) => 'err' in fields && /is locked: another/.test(String(Object(fields.err).message)),
  );
  const messages = told.map(({ message }) => message);
  expect(messages).toContain('webhook could not be recorded');
  expect(messages).toEqual([...new Set(messages)]);
});
