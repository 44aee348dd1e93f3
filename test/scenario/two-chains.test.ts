import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { CI_AND_MERGE, only, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();
const merging = (name: string) => CI_AND_MERGE.replace('name: ship', `name: ${name}`);

test('what a maintainer rejects to one chain is not merged by another', async () => {
  const s = await start(only({ ship: merging('ship'), other: merging('other') }));
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await s.advance(UPDATES_SHOWN_MS);
  const questions = () =>
    s.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:approval'));
  const [first, second] = questions();
  expect(questions()).toHaveLength(2);
  await s.github.react(REPO, first?.id ?? 0, 'mia', '-1');
  await s.advance(10_000);
  await s.github.react(REPO, second?.id ?? 0, 'max', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toEqual([]);
  const reason = /somebody who may countersign rejected this head when (ship|other) asked about it/;
  const asked = await s.say(number, 'max', '/countersign why');
  expect(s.replies(number, asked).join()).toMatch(reason);

  // Whoever may run things again does not thereby take a maintainer's no back.
  await s.say(number, 'ada', '/countersign rerun');
  await s.advance(60_000);
  expect(s.github.merges).toEqual([]);
});
