// @module-tag slow
import { expect, test } from 'vitest';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  CI_AND_MERGE,
  checkLines,
  countersign,
  GREETING,
  headline,
  isAboutRepository,
  MERGE_ONLY,
  open,
  react,
  reportCi,
  start,
} from './support.ts';

const MINUTE = 60_000;

async function runOf({ app }: Harness, pullRequest: number): Promise<Run | undefined> {
  return (await app.storage.read.runs.list({ limit: 100 })).find((run) => run.pullRequest === pullRequest);
}

async function explanationOf(harness: Harness, number: number): Promise<string> {
  const { read } = harness.app.storage;
  const run = await runOf(harness, number);
  const state = run && (await read.runs.load(run.id));
  return state ? explainText(explain(state, (await read.approvals.ofRun(state.run.id)).at(-1) ?? null)) : '';
}

/** The value of a metric, with its labels as they are written. */
async function metric({ app }: Harness, name: string): Promise<number | undefined> {
  const page = await (await fetch(`${app.metricsUrl}/metrics`)).text();
  const line = page.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

test('with an hour’s budget nearly spent, a countersign is merged at once, and a new pull request is read later', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const first = await open(harness);
  await harness.advance(A_RECHECK);
  github.leaveOfTheHour(249);

  const second = await open(harness, { branch: 'later', files: { 'src/later.ts': GREETING } });
  await harness.advance(A_RECHECK);
  expect(await runOf(harness, second.number)).toBeUndefined();
  const refused = github.requests.filter(({ status }) => status === 403);

  await countersign(harness, first.number);
  expect(github.merges).toMatchObject([{ number: first.number, by: github.app.botLogin }]);
  expect(refused).toEqual([]);

  await harness.advance(61 * MINUTE);
  expect(approvals(harness, second.number).map(headline)).toEqual(['✍️ Approve this merge?']);
  await countersign(harness, second.number);
  expect(github.merges).toHaveLength(2);
  expect(github.requests.filter(({ status }) => status === 403)).toEqual([]);
});

test('work that waits for the new hour sends no requests meanwhile, and the metrics show what waits', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  await open(harness);
  await harness.app.queue.idle();
  github.leaveOfTheHour(240);
  await open(harness, { branch: 'later', files: { 'src/later.ts': GREETING } });
  await harness.advance(A_RECHECK);
  expect(await metric(harness, 'countersign_github_waiting_jobs{kind="delivery"}')).toBe(1);
  expect(await metric(harness, 'countersign_github_limit{installation="51000001"}')).toBe(5_000);
  expect(await metric(harness, 'countersign_github_remaining{installation="51000001"}')).toBeLessThan(250);
  const held = await metric(harness, 'countersign_github_held_back_total{urgency="run"}');
  expect(held).toBeGreaterThan(0);

  const before = github.requests.length;
  await harness.advance(5 * MINUTE);
  const reads = github.requests
    .slice(before)
    .filter(isAboutRepository)
    // GraphQL has an hourly limit of its own, so the poll for answers goes on.
    .filter(({ path }) => !path.includes('/issues/comments/') && path !== '/graphql');
  expect(reads.filter(({ path, status }) => !path.endsWith('/pulls/1') || status !== 304)).toEqual([]);
  expect(await metric(harness, 'countersign_github_held_back_total{urgency="run"}')).toBe(held);
});

test('why mentions a spent budget while it lasts, without a request', async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(A_RECHECK);
  const reset = Math.ceil(harness.clock.now().getTime() / 1_000) + 15 * 60;
  const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
  const body = { message: 'API rate limit exceeded for installation.' };
  const back = github.fail(() => true, { status: 403, headers: spent, body });
  await github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
  await harness.advance(A_RECHECK);
  const time = new Date(Math.ceil(reset / 60) * MINUTE).toISOString().slice(11, 16);
  const sentence = `… GitHub’s rate limit of this installation is spent; work goes on at ${time} UTC`;
  expect(await explanationOf(harness, number)).toContain(sentence);
  const before = github.requests.length;
  await harness.advance(12 * MINUTE);
  expect(github.requests.slice(before).filter(isAboutRepository)).toEqual([]);
  expect(await explanationOf(harness, number)).toContain(sentence);

  back();
  await harness.advance(5 * MINUTE);
  expect(await explanationOf(harness, number)).not.toContain('rate limit');
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('a merge call that hits a limit merges on facts that are read after the limit, not on earlier ones', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  const isMerge = ({ method, path }: { method: string; path: string }) =>
    method === 'PUT' && path.endsWith('/merge');
  const reaction = await react(harness, number, 'mia');
  github.fail(isMerge, { status: 429, headers: { 'retry-after': '60' }, body: { message: 'slow down' } }, 1);
  await harness.advance(A_RECHECK);
  const [question] = approvals(harness, number);
  await github.unreact(REPO, question?.id ?? 0, reaction);
  const before = github.requests.length;
  await harness.advance(50_000);
  expect(github.requests.slice(before).filter(isAboutRepository)).toEqual([]);
  await harness.advance(30_000);
  expect(github.requests.filter(isMerge)).toHaveLength(1);
  expect(checkLines(harness, headSha)[0]).toMatch(/^in_progress: /);
});

test('a merge by hand while ours waits for a limit is not mistaken for ours', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await react(harness, number, 'mia');
  github.fail(
    ({ method }) => method === 'PUT',
    { status: 429, headers: { 'retry-after': '60' }, body: { message: 'slow down' } },
    1,
  );
  await harness.advance(A_RECHECK);
  github.holdDeliveries();
  await github.mergePullRequest(REPO, number, 'max', 'merge');
  await harness.advance(2 * MINUTE);
  await github.releaseDeliveries();
  await harness.advance(A_RECHECK);
  expect(github.merges).toMatchObject([{ by: 'max' }]);
  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: somebody merged the pull request by hand',
  ]);
});

test('a restart makes no room for new comments within GitHub’s limits', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number } = await open(harness);
  await harness.advance(2 * MINUTE);
  const ask = async (...people: readonly string[]) => {
    for (const person of people) await github.comment(REPO, number, person, '/countersign help');
    await harness.settle();
  };
  const replies = () =>
    github.comments(REPO, number).filter(({ body }) => body.includes('shows this list')).length;
  await ask('mia', 'ada', 'mia', 'ada', 'mia', 'ada', 'mia', 'ada');
  expect(replies()).toBe(8);
  await harness.restart();
  await ask('mia', 'ada', 'mia', 'ada', 'mia', 'ada');
  // Replies have 15 % of the 75 comments that are created in a minute.
  expect(replies()).toBe(11);
  await harness.advance(2 * MINUTE);
  expect(replies()).toBe(14);
});
