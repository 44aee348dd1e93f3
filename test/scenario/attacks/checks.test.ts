// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { REPO } from '../../support/harness.ts';
import { A_RECHECK, approvals, CI_AND_MERGE, countersign, open, ownChecks, start } from '../support.ts';
import { merged } from './support.ts';

// How the checks of a head are judged is in test/skills/builtin/ci/judge.test.ts; here other apps report under borrowed names.

const GREEN = { status: 'completed', conclusion: 'success' } as const;
const RED = { status: 'completed', conclusion: 'failure' } as const;

async function opened(settings?: string) {
  const harness = await start({ chain: CI_AND_MERGE, ...(settings === undefined ? {} : { settings }) });
  return { harness, ...(await open(harness)) };
}

test('a green check by another app under this app’s own name counts neither as this app’s nor as CI’s', async () => {
  const { harness, number, headSha } = await opened();
  const { github } = harness;
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await github.reportCheck(REPO, headSha, { name: 'countersign / pr-review', app: 'evil', ...GREEN });
  await harness.advance(A_RECHECK);
  expect(ownChecks(harness, headSha).map(({ status }) => status)).toEqual(['in_progress']);
  expect(approvals(harness, number)).toEqual([]);

  await github.reportCheck(REPO, headSha, { name: 'test', ...RED });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toEqual([]);
  expect(merged(harness)).toEqual([]);
});

test('another app’s check, or a status, with the same name does not make a red check green', async () => {
  const { harness, number, headSha } = await opened();
  const { github } = harness;
  await github.reportCheck(REPO, headSha, { name: 'test', ...RED });
  await github.reportCheck(REPO, headSha, { name: 'test', app: 'evil', ...GREEN });
  await github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toEqual([]);

  await github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await github.reportCheck(REPO, headSha, { name: 'test', ...GREEN });
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  expect(merged(harness)).toEqual([number]);
});

test('another app’s check, or a status, does not satisfy a check that the branch requires of one app', async () => {
  const { harness, number, headSha } = await opened();
  const { github } = harness;
  const ci = { context: 'test', integration_id: 15_368 };
  const rule = { type: 'required_status_checks', parameters: { required_status_checks: [ci] } };
  github.fail(({ path }) => path.includes('/rules/branches/main'), { status: 200, body: [rule] });
  await github.reportCheck(REPO, headSha, { name: 'test', app: 'evil', ...GREEN });
  await github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toEqual([]);
  expect(merged(harness)).toEqual([]);
});

test('a green check of the earlier head does not count for the later head', async () => {
  const { harness, number, headSha } = await opened();
  const { github } = harness;
  await github.reportCheck(REPO, headSha, { name: 'test', ...GREEN });
  await harness.advance(A_RECHECK);
  const next = await github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'a.txt': 'a\n' } });
  await github.reportCheck(REPO, next, { name: 'test', status: 'queued' });
  await github.reportCheck(REPO, headSha, { name: 'test', ...GREEN });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);
  await github.react(REPO, approvals(harness, number)[0]?.id ?? 0, 'mia', 'rocket');
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);
});
