// @module-tag slow
import { expect, test } from 'vitest';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import { keepingLog } from '../disk/log-lines.ts';
import type { Fault } from '../support/github/faults.ts';
import type { Harness } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  checkLines,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  react,
  start,
} from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const refusal = (status: number, message: string): Fault => ({ status, body: { message } });
const BAD_KEY = refusal(401, 'A JSON web token could not be decoded');
const UNKNOWN = refusal(404, 'Integration not found');
const NO_INSTALLATION = refusal(404, 'Not Found');
const SUSPENDED = refusal(403, 'This installation has been suspended');

const isToken = ({ path }: { path: string }) => path.endsWith('/access_tokens');
const isApp = ({ path }: { path: string }) => path === '/app' || path.startsWith('/app/');

/** GitHub refuses the app from now on, which starts without a token in memory. @returns a function that ends it. */
async function shutOut(harness: Harness, match: typeof isToken, how: Fault): Promise<() => void> {
  await harness.down();
  const back = harness.github.fail(match, how, Number.POSITIVE_INFINITY);
  await harness.up();
  await harness.settle();
  return back;
}

async function statuses({ app }: Harness) {
  const [run] = await app.storage.read.runs.list({ limit: 1 });
  const deliveries = await app.storage.read.deliveries.countByStatus();
  return { run: run?.status, failed: deliveries.failed };
}

async function metrics({ app }: Harness): Promise<string> {
  return (await fetch(`${app.metricsUrl}/metrics`)).text();
}

async function ready({ app }: Harness): Promise<{ status: string; warnings?: string[] }> {
  const answer = await fetch(`${app.url}/readyz`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as { status: string; warnings?: string[] };
}

test.each<[string, typeof isToken, Fault]>([
  ['its key', isApp, BAD_KEY],
  ['an App that GitHub does not find', isApp, UNKNOWN],
  ['the installation for a while', isToken, NO_INSTALLATION],
  ['a suspended installation', isToken, SUSPENDED],
])(
  'what was accepted and countersigned while GitHub refuses %s is done afterwards',
  async (_, match, how) => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    const first = await open(harness);
    await harness.advance(A_RECHECK);
    const back = await shutOut(harness, match, how);
    const second = await open(harness, { branch: 'second', files: { 'b.txt': 'b\n' } });
    await react(harness, first.number, 'mia');
    await harness.advance(10 * MINUTE);
    expect(await statuses(harness)).toEqual({ run: 'waiting_approval', failed: 0 });
    expect(github.merges).toEqual([]);
    expect(approvals(harness, second.number)).toEqual([]);

    back();
    await harness.advance(2 * MINUTE);
    expect(github.merges).toMatchObject([{ number: first.number }]);
    expect(approvals(harness, second.number).map(headline)).toEqual(['✍️ Approve this merge?']);
    await countersign(harness, second.number);
    await harness.advance(5 * MINUTE);
    expect(checkLines(harness, second.headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect((await statuses(harness)).failed).toBe(0);
  },
);

test('a key that GitHub refuses is shown to operators, logged once a minute, and retried rarely', async () => {
  const { log, lines } = keepingLog();
  const harness = await start({ chain: MERGE_ONLY, log });
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  const back = await shutOut(harness, isApp, BAD_KEY);
  for (const branch of ['b', 'c', 'd', 'e']) await open(harness, { branch, files: { [branch]: 'x\n' } });
  lines.length = 0;
  const before = harness.github.requests.length;
  await harness.advance(10 * MINUTE);
  expect(await ready(harness)).toEqual({
    status: 'ready',
    warnings: [
      expect.stringMatching(
        /^GitHub has not let this app sign in since 2026-03-02T09:\d\d:\d\dZ \(401\): all work waits\. Are its private key and the clock right\?$/,
      ),
    ],
  });
  const SINCE = /^countersign_github_signed_out_since_timestamp_seconds\{installation="app"\} \d+$/m;
  expect(await metrics(harness)).toMatch(SINCE);
  expect(new Set(lines.map(({ message }) => message))).toEqual(
    new Set(['GitHub does not let this app sign in: all work waits']),
  );
  expect([lines.length >= 9, lines.length <= 11]).toEqual([true, true]);
  expect(harness.github.requests.length - before).toBeLessThan(30);
  const [run] = await harness.app.storage.read.runs.list({ pullRequest: number, limit: 1 });
  const state = run && (await harness.app.storage.read.runs.load(run.id));
  expect(state && explainText(explain(state, null))).toContain('A JSON web token could not be decoded');

  back();
  await harness.advance(2 * MINUTE);
  expect(await ready(harness)).toEqual({ status: 'ready' });
  expect(await metrics(harness)).not.toMatch(SINCE);
});

test('a run survives hours in which GitHub refuses the app’s key', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  const back = await shutOut(harness, isApp, BAD_KEY);
  await harness.advance(2 * HOUR);
  expect((await statuses(harness)).run).toBe('waiting_approval');
  back();
  await react(harness, number, 'mia');
  await harness.advance(2 * MINUTE);
  expect(harness.github.merges).toMatchObject([{ number }]);
});
