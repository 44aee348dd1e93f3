// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { REPO } from '../../support/harness.ts';
import { flowChain } from '../support-chains.ts';
import { type Scene, scenes } from '../support-scene.ts';

const start = scenes();

const WATCHES_MAIN = flowChain(
  'action: gh-issue, with: { per: run, title: "The branch is broken" }',
  '{ event: ci.changed, filter: { base: main, conclusion: failure } }',
);

/** A check of GitHub Actions for a fork's commit has the name of the fork's branch. The stand-in's have none. */
async function failsOn(scene: Scene, sha: string, branch: string): Promise<void> {
  await scene.github.reportCheck(REPO, sha, { name: 'build', status: 'completed', conclusion: 'failure' });
  const sent = scene.github.deliveries.findLast(({ event }) => event === 'check_run');
  const payload = structuredClone(sent?.payload) as { check_run: { check_suite: { head_branch: string } } };
  payload.check_run.check_suite.head_branch = branch;
  const signed = scene.github.signedDelivery('check_run', payload);
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...signed });
  await scene.settle();
}

test('a check of a fork whose branch is called main is no check of the branch main', async () => {
  const scene = await start(WATCHES_MAIN);
  const { headSha } = await scene.open({ author: 'otto', fork: 'otto/app', branch: 'main' });
  await failsOn(scene, headSha, 'main');
  expect(await scene.runs('flow')).toEqual([]);
});

test('a check of an older commit of the branch main is one of the branch main', async () => {
  const scene = await start(WATCHES_MAIN);
  const push = (file: string) =>
    scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files: { [file]: 'a\n' } });
  const sha = await push('a.txt');
  await push('b.txt');
  await failsOn(scene, sha, 'main');
  expect(await scene.runs('flow')).toMatchObject([{ headSha: sha, status: 'completed' }]);
});
