import { expect, test } from 'vitest';
import type { ChainStatus } from '../../src/domain/chain/stored.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { isGateCheck } from '../support/github/read.ts';
import { REPO } from '../support/harness.ts';
import { store } from './support-chains.ts';
import { labelChain } from './support-configuration.ts';
import { CI_AND_MERGE, only, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

test('a paused chain starts no run, and the gate check and `why` say so until it is resumed', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  await store(scene, { name: 'ship', status: 'paused' });
  const { number, headSha } = await scene.open();
  expect(await scene.runs('ship')).toEqual([]);
  const because =
    'ship was paused by the operator on 2026-03-02 09:00 UTC, and starts no run until countersign chain resume';
  const gate = scene.github.checkRuns(REPO, headSha).find(isGateCheck);
  expect(`${gate?.title} ${gate?.summary} ${gate?.text}`).toContain(because);
  const asked = await scene.say(number, 'ada', '/countersign why');
  expect(scene.replies(number, asked).join()).toContain(because);
  const fired = await scene.say(number, 'mia', '/countersign fire ship');
  expect(scene.replies(number, fired)).toEqual([`S${because.slice(1)}.`]);

  await store(scene, { name: 'ship', status: 'active' });
  await scene.github.push({ repo: REPO, branch: 'change', author: 'ada', files: { 'b.txt': 'b\n' } });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await scene.runs('ship')).toHaveLength(1);
});

eachFirstQuick<[ChainStatus, string]>([
  ['paused', 'waiting_ci'],
  ['disabled', 'cancelled'],
])('a run of a chain that is %s later is %s at its next event', async (status, then) => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await store(scene, { name: 'ship', status });
  await scene.github.addLabel(REPO, number, 'mia', 'go');
  await scene.settle();
  expect((await scene.runs('ship')).map((run) => run.status)).toEqual([then]);
});

test('a chain that the operator disabled while its question is open merges nothing', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(10_000);
  const question = scene.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  await store(scene, { name: 'ship', status: 'disabled' });
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(60_000);
  expect(scene.github.pullRequest(REPO, number)).toMatchObject({ merged: false });
});

test('a chain that is defined for an owner stays defined in a repository where it was paused and resumed', {
  tags: 'slow',
}, async () => {
  const scene = await start();
  await store(scene, { name: 'pr-review', status: 'disabled' });
  const extra = { name: 'extra', definition: labelChain('extra', 'extra'), repository: null };
  await store(scene, { ...extra, id: 'chn_owner' });
  await store(scene, { name: 'extra', status: 'paused' });
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual([]);
  await store(scene, { name: 'extra', status: 'active' });
  await scene.github.push({ repo: REPO, branch: 'change', author: 'ada', files: { 'b.txt': 'b\n' } });
  await scene.settle();
  expect(scene.github.labels(REPO, number)).toEqual(['extra']);
});

test('a chain that the operator defined runs, and a file of the same name takes precedence', {
  tags: 'slow',
}, async () => {
  const scene = await start({ '.github/countersign/chains/both.yaml': labelChain('both', 'of-the-file') });
  await store(scene, { name: 'pr-review', status: 'disabled', repository: null });
  await store(scene, { name: 'both', definition: labelChain('both', 'stored') });
  await store(scene, { name: 'extra', definition: labelChain('extra', 'extra'), repository: null });
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number).toSorted()).toEqual(['extra', 'of-the-file']);
  expect(await scene.runs('pr-review')).toEqual([]);
});
