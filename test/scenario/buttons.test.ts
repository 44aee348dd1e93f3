import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { openWaitingForCi } from './support-commands.ts';
import { CI_AND_MERGE, only, scenes } from './support-scene.ts';

const start = scenes();

test('the buttons of a waiting check run work like commands', { tags: 'slow' }, async () => {
  const { scene, headSha } = await openWaitingForCi(start);
  const check = scene.check(headSha, 'ship');
  expect(check?.actions.map(({ identifier }) => identifier)).toEqual(['ci', 'cancel', 'pause']);
  await scene.github.clickAction(REPO, check?.id ?? 0, 'will', 'cancel');
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')).toMatchObject({ conclusion: 'cancelled', title: 'Cancelled by will' });
});

test('a button that somebody without permission presses does nothing', { tags: 'slow' }, async () => {
  const { scene, headSha } = await openWaitingForCi(start);
  const check = scene.check(headSha, 'ship');
  await scene.github.clickAction(REPO, check?.id ?? 0, 'otto', 'cancel');
  await scene.github.clickAction(REPO, check?.id ?? 0, 'will', 'pause');
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')?.title).toMatch(/^Waiting for CI/);
});

test('a button on a pull request from a fork works, although GitHub then names no pull request', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { headSha } = await scene.open({ author: 'otto', fork: 'otto/app' });
  await scene.github.clickAction(REPO, scene.check(headSha, 'ship')?.id ?? 0, 'will', 'cancel');
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')?.title).toBe('Cancelled by will');
});

test('a button of an older head does nothing to the newer one', { tags: 'slow' }, async () => {
  const { scene, headSha } = await openWaitingForCi(start);
  const old = scene.check(headSha, 'ship')?.id ?? 0;
  scene.github.holdDeliveries();
  await scene.github.clickAction(REPO, old, 'will', 'cancel');
  const newer = await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { 'a.txt': 'a\n' },
  });
  await scene.github.releaseDeliveries('reverse');
  await scene.advance(5_000);
  expect(scene.check(newer, 'ship')?.title).toMatch(/^Waiting for CI/);
});

eachFirstQuick([
  ['the check run', 'rerequestCheck'],
  ['all checks', 'rerequestAllChecks'],
] as const)('re-running %s on GitHub runs again what failed', async (_, rerun) => {
  const { scene, headSha } = await openWaitingForCi(start);
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await scene.settle();
  const [run] = await scene.runs('ship');
  const sessions = async () => (await scene.app.storage.read.runs.sessionsOf(run?.id ?? '')).length;
  const before = await sessions();
  await scene.github[rerun](REPO, scene.check(headSha, 'ship')?.id ?? 0, 'will');
  await scene.advance(5_000);
  expect(await sessions()).toBe(before + 1);
  expect(scene.check(headSha, 'ship')).toMatchObject({ status: 'completed', conclusion: 'failure' });
});

test('the buttons of another app’s check run do nothing', async () => {
  const { scene, headSha } = await openWaitingForCi(start);
  const [run] = await scene.runs('ship');
  const sent = scene.github.signedDelivery('check_run', {
    action: 'requested_action',
    installation: { id: run?.installationId },
    repository: { id: run?.repositoryId, name: 'app', owner: { login: 'octo' } },
    check_run: { head_sha: headSha, external_id: run?.id, app: { id: 1 }, pull_requests: [] },
    requested_action: { identifier: 'cancel' },
    sender: { login: 'mia', type: 'User' },
  });
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...sent });
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')?.title).toMatch(/^Waiting for CI/);
});
