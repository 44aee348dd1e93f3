import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { A_RECHECK, approvals, checkLines, MERGE_ONLY, open, react, start } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A chain that asks nobody, so that hours pass quickly. */
const NO_CHAINS = { settings: 'chains: []\n' };

/** How often the app requested a redelivery. */
function asked({ github }: Harness): number {
  return github.requests.filter(({ path }) => path.endsWith('/attempts')).length;
}

/** From now on GitHub sends no webhooks, also not later: the app must find out everything itself. */
function loseDeliveries({ github }: Harness): void {
  github.setWebhookUrl(undefined);
}

function push({ github }: Harness): Promise<string> {
  const files = { 'src/greet.ts': 'export {};\n' };
  return github.push({ repo: REPO, branch: 'greet', author: 'ada', files });
}

function listings({ github }: Harness, repo: string): number {
  return github.requests.filter(({ path }) => path.startsWith(`/repos/${repo}/pulls?`)).length;
}

test('deliveries that GitHub could not make while the app was down arrive when it is up again', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number } = await open(harness);
  await harness.down();
  await github.comment(REPO, number, 'mia', '/countersign status');
  await harness.up();
  await harness.settle();
  const replies = github.comments(REPO, number).filter(({ body }) => body.includes('countersign:reply'));
  expect([replies.length, asked(harness)]).toEqual([1, 1]);
});

test('more than a page of missed deliveries arrives, oldest first, each requested once', {
  tags: 'slow',
}, async () => {
  const harness = await start(NO_CHAINS);
  const { github } = harness;
  const { headSha } = await open(harness);
  await harness.down();
  await github.settle();
  const before = github.deliveries.length;
  for (let index = 0; index < 105; index++) {
    await github.setStatus(REPO, headSha, { context: `check-${index}`, state: 'success' });
  }
  // At first the second page fails, and so do the requests for the first two deliveries.
  github.fail(({ path }) => path.includes('cursor='), { status: 502 }, 1);
  github.fail(({ path }) => path.endsWith('/attempts'), { status: 500 }, 2);
  await harness.up();
  await harness.advance(MINUTE);
  const recorded = await harness.app.storage.read.deliveries.list({ limit: 105 });
  const missed = github.deliveries.slice(before).map(({ guid }) => guid);
  expect(recorded.map(({ guid }) => guid).reverse()).toEqual(missed);
  expect(recorded.every(({ status }) => status === 'done')).toBe(true);
  expect(asked(harness)).toBe(107);
  await harness.advance(DAY);
  expect(asked(harness)).toBe(107);
});

test('a delivery that fails again is requested less and less often, and arrives eventually', {
  tags: 'slow',
}, async () => {
  const harness = await start(NO_CHAINS);
  const { github, app } = harness;
  github.setWebhookUrl('http://127.0.0.1:9/nobody');
  await open(harness);
  await harness.advance(6 * HOUR);
  const afterSixHours = asked(harness);
  github.setWebhookUrl(`${app.url}/api/github/webhooks`);
  await harness.advance(6 * HOUR);
  const known = await app.storage.read.deliveries.list({ limit: 10 });
  expect(known.map(({ event, status }) => [event, status])).toContainEqual(['pull_request', 'done']);
  expect(afterSixHours).toBeGreaterThan(3);
  // Every ten minutes it would be 36 for each of them.
  expect(afterSixHours / github.deliveries.length).toBeLessThan(8);
});

test('a pull request without any webhook is found within an hour', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await harness.settle();
  loseDeliveries(harness);
  const { number } = await open(harness);
  expect(approvals(harness, number)).toEqual([]);
  await harness.advance(HOUR);
  expect(approvals(harness, number)).toHaveLength(1);
  await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('a pull request that was opened while the app was down for a week is found at the start', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await harness.settle();
  await harness.down();
  const { number } = await harness.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greet',
    title: 'Greet people',
    files: { 'a.txt': 'a\n' },
  });
  harness.clock.moveTo(new Date(harness.clock.now().getTime() + 7 * DAY));
  await harness.up();
  await harness.settle();
  expect(approvals(harness, number)).toHaveLength(1);
});

test('a push without any webhook voids the approval of the older head', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await harness.down();
  loseDeliveries(harness);
  await push(harness);
  await harness.up();
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toEqual(['cancelled: Superseded by a newer push']);
  expect(approvals(harness, number)).toHaveLength(2);
});

eachFirstQuick([
  ['closed', (harness: Harness, number: number) => harness.github.closePullRequest(REPO, number, 'ada')],
  ['merged', (harness: Harness, number: number) => harness.github.mergePullRequest(REPO, number, 'mia')],
])('the run of a pull request that was %s without a webhook ends within an hour', async (_, end) => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  await harness.down();
  loseDeliveries(harness);
  await end(harness, number);
  await harness.up();
  await harness.settle();
  const runs = await harness.app.storage.read.runs.list({ limit: 10 });
  expect(runs.map(({ status }) => status)).toEqual(['cancelled']);
});

test('pull requests from before the first reconciliation are ignored until somebody changes them', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  await harness.settle();
  loseDeliveries(harness);
  const file = { '.github/countersign/chains/pr-review.yaml': MERGE_ONLY };
  github.addRepository({ owner: 'octo', name: 'old', files: file, collaborators: { ada: 'write' } });
  const opened = await github.openPullRequest({
    repo: 'octo/old',
    author: 'ada',
    branch: 'long-ago',
    title: 'Long ago',
    files: { 'a.txt': 'a\n' },
  });
  await harness.advance(2 * HOUR);
  expect(await harness.app.storage.read.runs.list({ limit: 10 })).toEqual([]);
  await github.push({ repo: 'octo/old', branch: 'long-ago', author: 'ada', files: { 'a.txt': 'b\n' } });
  await harness.advance(HOUR);
  const runs = await harness.app.storage.read.runs.list({ limit: 10 });
  expect(runs.map(({ pullRequest }) => pullRequest)).toEqual([opened.number]);
});

test('a reconciliation continues at the repository where it was interrupted', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  await harness.settle();
  github.addRepository({ owner: 'octo', name: 'second', files: { 'a.txt': 'a\n' } });
  github.addRepository({ owner: 'octo', name: 'third', files: { 'a.txt': 'a\n' } });
  const before = listings(harness, REPO);
  github.fail(({ path }) => path.startsWith('/repos/octo/second/pulls'), { status: 502 }, 1);
  await harness.restart();
  await harness.advance(MINUTE);
  const count = (repo: string) => listings(harness, repo);
  expect([count(REPO) - before, count('octo/second'), count('octo/third')]).toEqual([1, 2, 1]);
});

test('a repository that cannot be read does not stop the reconciliation of others', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  await harness.settle();
  github.addRepository({ owner: 'octo', name: 'later', files: { 'a.txt': 'a\n' } });
  github.fail(({ path }) => path.startsWith(`/repos/${REPO}/pulls?`), { status: 403 });
  await harness.restart();
  await harness.settle();
  expect(listings(harness, 'octo/later')).toBe(1);
});

test('a repository that GitHub always fails at is skipped, and tried again the next time', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  await harness.settle();
  github.addRepository({ owner: 'octo', name: 'second', files: { 'a.txt': 'a\n' } });
  github.addRepository({ owner: 'octo', name: 'third', files: { 'a.txt': 'a\n' } });
  const back = github.fail(({ path }) => path.startsWith('/repos/octo/second/pulls'), { status: 502 });
  await harness.restart();
  await harness.advance(HOUR / 2);
  expect(listings(harness, 'octo/third')).toBe(1);

  back();
  const before = listings(harness, 'octo/second');
  await harness.advance(HOUR);
  expect(listings(harness, 'octo/second')).toBeGreaterThan(before);
});

test('while nothing changes, a reconciliation costs nothing of the hourly limit', {
  tags: 'slow',
}, async () => {
  const harness = await start(NO_CHAINS);
  await open(harness);
  await harness.advance(2 * HOUR);
  const before = harness.github.requests.length;
  await harness.advance(HOUR);
  const looks = harness.github.requests.slice(before).filter(({ path }) => path.includes('/pulls'));
  expect(looks.length).toBeGreaterThan(0);
  expect(looks.filter(({ status }) => status !== 304)).toEqual([]);
});
