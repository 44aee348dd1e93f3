// @module-tag slow
import { expect, test } from 'vitest';
import { withinEffortAsync } from '../support/effort.ts';
import { REPO } from '../support/harness.ts';
import { until } from '../support/until.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  countersign,
  GREETING,
  MERGE_ONLY,
  open,
  ownChecks,
  react,
  start,
} from './support.ts';

const LONG = process.env.COUNTERSIGN_LONG === '1';

const HARMFUL =
  'export function run(request: { query: { code: string } }) {\n  return eval(request.query.code);\n}\n';

test('a cancel that arrives while GitHub is being read for the merge prevents the merge', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number } = await open(harness);
  await react(harness, number, 'mia');
  const [reading, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const isRead = ({ path }: { path: string }) => {
    if (!path.includes('/collaborators/mia/permission')) return false;
    reading.resolve();
    return true;
  };
  github.fail(isRead, { until: cancelled.promise }, 1);
  const looking = harness.advance(A_RECHECK);
  await reading.promise;
  await github.comment(REPO, number, 'max', '/countersign cancel');
  await until('the cancel', async () => {
    const [run] = await harness.app.storage.read.runs.list({ limit: 1 });
    return run?.status === 'cancelled' || undefined;
  });
  cancelled.resolve();
  await looking;
  await harness.advance(A_RECHECK);
  expect(github.merges).toEqual([]);
  const [run] = await harness.app.storage.read.runs.list({ limit: 1 });
  expect(run?.reason?.code).toBe('run.cancelled.by_person');
});

test('a step after the merge that needs an approval does not treat the merge as its approval', async () => {
  const harness = await start({
    chain: `${MERGE_ONLY}  - id: deploy
    action: gh-label
    requires_approval: true
    with: { labels: [deploy-to-production] }
`,
  });
  const { number } = await open(harness);
  await countersign(harness, number);
  await harness.advance(30_000);
  expect(harness.github.merges).toHaveLength(1);
  expect(harness.github.labels(REPO, number)).toEqual([]);
});

// Each minute of it is a minute of retries; test/scenario/effects.test.ts also plays half an hour.
test.runIf(LONG)('a pull request opened during an outage of an hour gets its run afterwards', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const back = harness.github.fail(({ path }) => /pulls\/\d+$/.test(path), { status: 503 });
  const { number } = await open(harness);
  await harness.advance(3_600_000);
  back();
  await harness.advance(600_000);
  expect(approvals(harness, number)).toHaveLength(1);
});

test('the files of another head are not reviewed for this one', async () => {
  const harness = await start();
  const { github, app, clock } = harness;
  let reads = 0;
  const isSecondRead = ({ path }: { path: string }) => /pulls\/\d+\/files/.test(path) && ++reads === 2;
  github.fail(isSecondRead, { status: 502 }, 1);
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greet',
    files: { 'src/greet.ts': HARMFUL },
    title: 'Greet',
  });
  await github.settle();
  await app.queue.idle();
  // A harmless head is there while the files are read again, and then the harmful one returns.
  github.holdDeliveries();
  await github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'src/greet.ts': GREETING } });
  clock.advance(2_000);
  app.queue.wake();
  await app.queue.idle();
  await github.push({ repo: REPO, branch: 'greet', author: 'ada', forceTo: headSha });
  await github.releaseDeliveries();
  await harness.advance(60_000);
  expect(approvals(harness, number)).toEqual([]);
  expect(ownChecks(harness, headSha).at(-1)).toMatchObject({ conclusion: 'failure' });
});

test('a rerun does not start a chain again whose filter the pull request no longer matches', async () => {
  const harness = await start({
    chain: MERGE_ONLY.replace('draft: false', 'labels: [safe]'),
  });
  const { github } = harness;
  const { number } = await open(harness);
  await github.addLabel(REPO, number, 'mia', 'safe');
  await harness.settle();
  await github.removeLabel(REPO, number, 'mia', 'safe');
  await harness.settle();
  await github.comment(REPO, number, 'ada', '/countersign rerun');
  await harness.advance(A_RECHECK);
  const runs = await harness.app.storage.read.runs.list({ limit: 10 });
  expect(runs.map(({ status, reason }) => [status, reason?.code])).toEqual([
    ['cancelled', 'run.cancelled.not_triggered'],
  ]);
});

test('an app that rewrites the approval comment repeatedly gets at most five of them', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  for (let edit = 0; edit < 8; edit++) {
    const { id, body } = approvalOf(harness, number);
    await harness.github.editComment(REPO, id, 'will', `${body}\n\nlinked`);
    await harness.advance(A_RECHECK);
  }
  expect(approvals(harness, number)).toHaveLength(5);
  expect(harness.github.merges).toEqual([]);
});

test('a commit message with 300 KB of incomplete trailers takes little work', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await harness.github.push({
    repo: REPO,
    branch: 'greet',
    author: 'ada',
    files: { 'src/other.ts': GREETING },
    message: 'co-authored-by:\n'.repeat(20_000),
  });
  await harness.settle();
  await react(harness, number, 'otto');
  // This includes the work of the stand-in, which runs in the same thread.
  await withinEffortAsync(4_000, () => harness.advance(A_RECHECK));
});
