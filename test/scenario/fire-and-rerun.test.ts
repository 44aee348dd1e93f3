import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { CHAINS, CI_AND_MERGE, only, SETTINGS, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

/** What can be fired, and what a rerun does to a run that is over. */
const start = scenes();

const LABEL = '- { action: gh-label, with: { labels: [x] } }';
const DEPLOY = `
name: deploy
trigger: { event: manual.fired }
steps:
  - skill: ci
  - action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Deploying to {{ trigger.input_environment }}." }
`;

test('people who may fire a chain may also rerun it, with the same inputs', { tags: 'slow' }, async () => {
  const s = await start(only({ deploy: DEPLOY }));
  const { number, headSha } = await s.open({ author: 'otto', fork: 'otto/app' });
  await s.say(number, 'mia', '/countersign fire deploy environment=staging');
  await s.say(number, 'otto', '/countersign cancel');
  const refused = await s.say(number, 'otto', '/countersign rerun');
  expect(s.replies(number, refused)).toEqual([
    '`/countersign fire` is for people with maintain access; you have read access.',
  ]);
  const asked = await s.say(number, 'otto', '/countersign ci');
  expect(s.replies(number, asked)).toEqual(s.replies(number, refused));
  expect(await s.runs('deploy')).toHaveLength(1);

  await s.say(number, 'mia', '/countersign rerun');
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await s.advance(10_000);
  expect(s.github.comments(REPO, number).map(({ body }) => body)).toContainEqual(
    expect.stringContaining('Deploying to staging.'),
  );
});

test('a chain is not fired without an input that its steps need', { tags: 'slow' }, async () => {
  const s = await start({ [`${CHAINS}/deploy.yaml`]: DEPLOY });
  const { number } = await s.open();
  const asked = await s.say(number, 'mia', '/countersign fire deploy');
  expect(s.replies(number, asked)).toEqual(['`deploy` is not fired: it needs environment=….']);
  expect(await s.runs('deploy')).toEqual([]);
});

test('a run whose chain is fired again on the same head says so, and names no push', {
  tags: 'slow',
}, async () => {
  const s = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await s.open();
  await s.say(number, 'mia', '/countersign fire ship');
  await s.advance(10_000);
  const [, first] = await s.runs('ship');
  expect(first?.reason).toMatchObject({
    code: 'run.cancelled.newer_run',
    summary: 'replaced by a newer run of ship, started by mia',
  });
  const titles = s.github.checkRuns(REPO, headSha).map(({ title }) => title);
  expect(titles).toContain('Replaced by a newer run of this chain, started by mia');
  expect(titles.join()).not.toContain('push');
});

test('a run keeps the filter of its trigger, and is not started again for what that excludes', {
  tags: 'slow',
}, async () => {
  const chain = `name: ship\ntrigger: { event: pr.updated, filter: { labels: [go] } }\nsteps:\n  - skill: ci\n  ${LABEL}\n`;
  const s = await start(only({ ship: chain }));
  const { number } = await s.open();
  await s.github.addLabel(REPO, number, 'mia', 'go');
  await s.settle();
  await s.say(number, 'ada', '/countersign cancel');
  await s.say(number, 'ada', '/countersign rerun');
  const [again] = await s.runs('ship');
  expect(again?.event.kind).not.toBe('manual.fired');

  await s.say(number, 'ada', '/countersign cancel');
  await s.github.removeLabel(REPO, number, 'mia', 'go');
  await s.settle();
  const before = await s.runs('ship');
  const asked = await s.say(number, 'ada', '/countersign rerun');
  expect(s.replies(number, asked)).toEqual([
    '`ship` is not begun again: its chain is not for this pull request any more.',
  ]);
  expect(await s.runs('ship')).toHaveLength(before.length);
});

test('a run whose pull request has another base now is not started there, and the reply says why', {
  tags: 'slow',
}, async () => {
  const s = await start(only({ ship: CI_AND_MERGE }));
  const files = { [`${CHAINS}/ship.yaml`]: null, [SETTINGS]: null };
  await s.github.push({ repo: REPO, branch: 'release', author: 'max', files });
  s.github.addRuleset(REPO, { branches: ['release'], approvals: 1, restrict: ['creations'] });
  const { number } = await s.open();
  await s.github.editPullRequest(REPO, number, 'ada', { base: 'release' });
  await s.settle();
  const asked = await s.say(number, 'ada', '/countersign rerun');
  expect(s.replies(number, asked)).toEqual([
    '`ship` is not begun again: there is no such chain on release, or it has errors.',
  ]);
  expect(await s.runs('ship')).toHaveLength(1);
});

test('every step that failed is run again, not only the first', { tags: 'slow' }, async () => {
  const ci = (id: string) =>
    `  - { id: ${id}, skill: ci, depends_on: [], timeout: 1m, on_failure: continue }\n`;
  const s = await start(
    only({
      ship: `name: ship\ntrigger: { event: pr.opened }\nsteps:\n${ci('a')}${ci('b')}  - { id: c, action: gh-label, depends_on: [a, b], with: { labels: [x] } }\n`,
    }),
  );
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await s.advance(180_000);
  const asked = await s.say(number, 'mia', '/countersign rerun');
  expect(s.replies(number, asked)).toEqual(['Running again: `a`, `b`.']);
});

eachFirstQuick([
  [
    'review',
    'No step of the chains that have run here uses the skill `pr-review`, so there is nothing to run again.',
  ],
  ['ci', 'Reading the state of CI again.'],
])('the reply to %s depends on whether the chain has such a step', async (verb, reply) => {
  const s = await start(only({ ship: CI_AND_MERGE }));
  const { number } = await s.open();
  const asked = await s.say(number, 'mia', `/countersign ${verb}`);
  expect(s.replies(number, asked)).toEqual([reply]);
});

test('the reply for a step that has not started says that it will run by itself', {
  tags: 'slow',
}, async () => {
  const s = await start(
    only({
      ship: `name: ship\ntrigger: { event: pr.opened }\nsteps:\n  - skill: ci\n  - skill: pr-review\n`,
    }),
  );
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await s.advance(UPDATES_SHOWN_MS);
  const asked = await s.say(number, 'mia', '/countersign review');
  expect(s.replies(number, asked)).toEqual([
    'The step `pr-review` has not begun yet; it runs by itself when its turn comes.',
  ]);
});

test('a chain that merges is not fired on a draft', { tags: 'slow' }, async () => {
  const s = await start(only({ ship: CI_AND_MERGE }));
  const { number } = await s.open({ draft: true });
  const asked = await s.say(number, 'mia', '/countersign fire ship');
  expect(s.replies(number, asked)).toEqual([
    'The pull request is a draft, and `ship` merges; mark it as ready for review first.',
  ]);
});

test('an invalid chain is not fired, and the reply has its first error', { tags: 'slow' }, async () => {
  const s = await start({ [`${CHAINS}/deploy.yaml`]: 'name: deploy\ntrigger: { event: manual.fierd }\n' });
  const { number } = await s.open();
  const asked = await s.say(number, 'mia', '/countersign fire deploy');
  expect(s.replies(number, asked)).toEqual([
    expect.stringMatching(/^`deploy` cannot be fired because of .*deploy\.yaml:.*"steps" is missing\.$/),
  ]);
});
