// @module-tag security

import { expect, test } from 'vitest';
import { REPO } from '../../support/harness.ts';
import { CI_AND_MERGE, only, scenes } from '../support-scene.ts';

const start = scenes();

const SETS_A_STATUS = `
name: docs
trigger: { event: pr.opened }
steps: [{ action: gh-status, with: { context: team/docs, state: success } }]
`;
const files = (settings = '') => only({ docs: SETS_A_STATUS, ship: CI_AND_MERGE }, settings);

test('a status that a chain sets is not CI of a repository without any', { tags: 'slow' }, async () => {
  const scene = await start(files());
  const { headSha } = await scene.open();
  expect(scene.github.statuses(REPO, headSha)).toMatchObject([{ context: 'team/docs', state: 'success' }]);
  await scene.advance(120_000);
  const [run] = await scene.runs('ship');
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  expect(state?.invocations[0]?.outcome).toMatchObject({
    passed: null,
    summary: 'no checks ran on this commit',
  });
});

test('a status that a chain sets does not satisfy the checks that the settings require', async () => {
  const scene = await start(files('ci: { required: [team/docs] }\n'));
  const { headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(120_000);
  expect(scene.check(headSha, 'ship')?.title).toMatchInlineSnapshot(
    `"Waiting for CI: 1 of 2 checks are done"`,
  );
});

test('CI does not wait for a status that the branch requires and a chain has set', {
  tags: 'slow',
}, async () => {
  const scene = await start(files());
  const { headSha } = await scene.open();
  const rule = {
    type: 'required_status_checks',
    parameters: { required_status_checks: [{ context: 'team/docs' }] },
  };
  scene.github.fail(({ path }) => path.includes('/rules/branches/main'), { status: 200, body: [rule] });
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(120_000);
  expect(scene.check(headSha, 'ship')?.title).toMatchInlineSnapshot(
    `"Waiting for a maintainer to countersign"`,
  );
});
