import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  checkLines,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  ownCheck,
  ownChecks,
  react,
  start,
} from './support.ts';

const WILL_MAY = 'countersign: { users: [will] }\n';
const ADMINS_ONLY = 'countersign: { permission: admin }\n';

function setSettings({ github }: Harness, text: string): Promise<string> {
  const files = { '.github/countersign.yml': text };
  return github.push({ repo: REPO, branch: 'main', author: 'max', files });
}

test('a person who is removed from the settings cannot answer an approval from before', async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: WILL_MAY });
  const { number, headSha } = await open(harness);
  await setSettings(harness, ADMINS_ONLY);
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  await countersign(harness, number, 'will');
  expect(harness.github.merges).toEqual([]);
  await countersign(harness, number, 'max');
  expect(harness.github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: the settings on the governing branch changed',
    'success: Merged: countersigned by max',
  ]);
});

test('a countersign from before the settings became stricter, but polled afterwards, merges nothing', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: WILL_MAY });
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  // No event reports the push: the poll itself must compare.
  harness.github.holdDeliveries();
  await react(harness, number, 'will');
  await setSettings(harness, ADMINS_ONLY);
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
});

test('the app waits for a second countersign that is required meanwhile', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await setSettings(harness, 'countersign: { count: 2 }\n');
  await harness.advance(A_RECHECK);
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toEqual([]);
  await countersign(harness, number, 'max');
  expect(harness.github.merges).toHaveLength(1);
});

test('nothing is merged while the settings are invalid, and the approval counts again once they are fixed', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: WILL_MAY });
  const { number, headSha } = await open(harness);
  await setSettings(harness, 'countersign: { users: [will\n');
  await countersign(harness, number, 'will');
  expect(harness.github.merges).toEqual([]);
  await harness.advance(A_RECHECK);
  expect(ownCheck(harness, headSha).summary).toContain('the settings on main cannot be read');
  await setSettings(harness, WILL_MAY);
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('settings that say the same, or change something else, void no approval', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: WILL_MAY });
  const { number, headSha } = await open(harness);
  await setSettings(harness, `# The same, with a remark.\n${WILL_MAY}noise: quiet\n`);
  await harness.advance(A_RECHECK);
  await countersign(harness, number, 'will');
  expect(harness.github.merges).toHaveLength(1);
  expect(ownChecks(harness, headSha)).toHaveLength(1);
});
