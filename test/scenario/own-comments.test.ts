// @module-tag slow
import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { approvalOf, approvals, countersign, headline, MERGE_ONLY, open, start } from './support.ts';

const isComment = ({ method, path }: { method: string; path: string }) =>
  method === 'POST' && path.endsWith('/comments');

test('if GitHub’s comments name no app, the app is asked once, and the answer counts', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  harness.github.leaveAppsUnnamed();
  const { number } = await open(harness);
  await harness.advance(60_000);
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  await countersign(harness, number);
  expect(harness.github.merges).toMatchObject([{ number }]);
});

test('an approval comment whose answer was lost is found again if GitHub’s comments name no app', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.leaveAppsUnnamed();
  github.fail(isComment, { after: 'reset' }, 2);
  const { number } = await open(harness);
  await harness.advance(20_000);
  expect(approvals(harness, number)).toHaveLength(1);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ number }]);
});

test('reactions to a copy of the approval comment by another bot do not count', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.leaveAppsUnnamed();
  github.addUser('robot', { type: 'Bot' });
  const { number } = await open(harness);
  const copy = await github.comment(REPO, number, 'robot', approvalOf(harness, number).body);
  await github.react(REPO, copy, 'mia', 'rocket');
  await harness.advance(20_000);
  expect(github.merges).toEqual([]);
});
