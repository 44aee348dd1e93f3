import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
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
  ownChecks,
  react,
  reportCi,
  start,
} from './support.ts';

test('a run that waits for CI continues after a restart', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.restart();
  await reportCi(harness, headSha, 'success');
  await countersign(harness, number);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
  expect(harness.github.comments(REPO, number)).toHaveLength(1);
});

test('CI that turned green without a webhook while the app was down is noticed after the restart', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  harness.github.holdDeliveries();
  await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
  await harness.restart();
  await harness.advance(180_000);
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
});

test('a run that waits for a countersign keeps its approval comment over a restart, and notices reactions from while the app was down', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  const before = harness.github.comments(REPO, number);
  await harness.down();
  await react(harness, number, 'mia');
  await harness.up();
  expect(harness.github.comments(REPO, number)).toMatchObject(before.map(({ id, body }) => ({ id, body })));
  await harness.advance(A_RECHECK);

  expect(harness.github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
  expect(harness.github.comments(REPO, number).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

test('the first of two countersigns survives a restart', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: 'countersign: { count: 2 }\n' });
  const { number } = await open(harness);
  await countersign(harness, number, 'mia');
  await harness.restart();
  await countersign(harness, number, 'max');
  expect(harness.github.merges).toHaveLength(1);
  expect(approvals(harness, number)).toHaveLength(1);
});

test('a paused pull request stays paused over a restart', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  await harness.github.comment(REPO, number, 'mia', '/countersign pause');
  await harness.advance(A_RECHECK);
  await harness.restart();
  await countersign(harness, number);
  expect(harness.github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Paused']);

  await harness.github.comment(REPO, number, 'mia', '/countersign resume');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('a merge that GitHub delayed is retried after a restart', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  github.requireChecks(REPO, 'main', ['deploy']);
  await countersign(harness, number);
  await harness.restart();
  github.requireChecks(REPO, 'main', []);
  await harness.advance(120_000);
  expect(github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

test('a comment that waits for a rate limit is written once after a restart', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const limited = github.fail(({ method, path }) => method === 'POST' && path.endsWith('/comments'), {
    status: 429,
    headers: { 'retry-after': '120' },
    body: { message: 'Slow down.' },
  });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  limited();
  await harness.restart();
  await harness.advance(180_000);
  expect(approvals(harness, number)).toHaveLength(1);
  expect(github.comments(REPO, number)).toHaveLength(1);
  expect(ownChecks(harness, headSha)).toHaveLength(1);
});

test('a pause that GitHub asked for is kept over a restart, also by work that begins only then', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const first = await open(harness);
  await harness.advance(A_RECHECK);
  const refused = github.fail(isAboutRepository, {
    status: 403,
    headers: { 'retry-after': '120' },
    body: { message: 'You have exceeded a secondary rate limit.' },
  });
  await github.comment(REPO, first.number, 'mia', '/countersign pause');
  await harness.advance(A_RECHECK);
  refused();
  await harness.restart();
  const before = github.requests.length;
  const second = await open(harness, { branch: 'later', files: { 'src/later.ts': GREETING } });
  await harness.advance(60_000);
  expect(github.requests.slice(before).filter(isAboutRepository)).toEqual([]);
  expect(approvals(harness, second.number)).toEqual([]);

  await harness.advance(60_000);
  expect(approvals(harness, second.number).map(headline)).toEqual(['✍️ Approve this merge?']);
});

test('a merged pull request stays as it is after a restart', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await countersign(harness, number);
  const before = [github.comments(REPO, number), ownChecks(harness, headSha)];
  await harness.restart();
  await harness.advance(3_600_000);
  expect([github.comments(REPO, number), ownChecks(harness, headSha)]).toEqual(before);
  expect(github.merges).toHaveLength(1);
});
