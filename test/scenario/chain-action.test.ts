import { expect, test } from 'vitest';
import type { ChainStatus } from '../../src/domain/chain/stored.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { chainComments, store } from './support-chains.ts';
import { CHAINS, only, type Scene, scenes } from './support-scene.ts';

const start = scenes();

const outer = (inputs = '', more = '') => `
name: outer
trigger: { event: pr.opened }
steps:
  - { id: sub, action: chain, with: { chain: inner${inputs === '' ? '' : `, inputs: ${inputs}`} } }
${more}`;

const inner = (steps: string, inputs = '') => `
name: inner
trigger: { event: manual.fired }
${inputs === '' ? '' : `inputs: ${inputs}\n`}steps:
${steps}
`;

const SAYS = '  - { action: gh-comment, with: { body: "{{ inputs.who }} {{ inputs.count }}" } }';
const WAITS = '  - { action: wait, with: { for: 1h } }';

const loaded = async (scene: Scene, chain: string) => {
  const [run] = await scene.runs(chain);
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  if (!state) throw new Error(`there is no run of ${chain}`);
  return state;
};
const step = async (scene: Scene) => (await loaded(scene, 'outer')).invocations[0];
const said = async (scene: Scene) => {
  const found = await step(scene);
  return found?.outcome?.summary ?? found?.reason?.summary;
};

test('a step runs another chain with inputs, and has its result as its outcome', async () => {
  const scene = await start(
    only({
      outer: outer(
        '{ who: "{{ trigger.author }}", count: 3 }',
        '  - { action: gh-comment, condition: "{{ steps.sub.outcome.passed }}", with: { body: "after: {{ steps.sub.outcome.details.status }}" } }\n',
      ),
      inner: inner(SAYS, '{ who: { required: true }, count: { type: number } }'),
    }),
  );
  const { number, headSha } = await scene.open();
  await scene.advance(5_000);
  const child = await loaded(scene, 'inner');
  const parent = await loaded(scene, 'outer');
  expect(chainComments(scene, number)).toEqual(['ada 3', 'after: completed']);
  expect(parent.run.status).toBe('completed');
  expect(parent.invocations[0]?.outcome).toMatchObject({
    passed: true,
    details: { chain: 'inner', run_id: child.run.id, status: 'completed' },
  });
  expect(child.run.facts.parent).toEqual({ run: parent.run.id, chain: 'outer', step: 'sub', above: [] });
  expect(child.run.settings).toEqual(parent.run.settings);
  expect(scene.check(headSha, 'outer / sub')).toMatchObject({
    conclusion: 'success',
    summary: expect.stringContaining('run by the step sub of outer'),
  });
  expect(await scene.runs('inner')).toHaveLength(1);
});

test('a step whose chain fails has not passed, and the chain goes on', { tags: 'slow' }, async () => {
  const scene = await start(
    only({
      outer: outer(
        '',
        '  - { action: gh-comment, condition: "{{ not steps.sub.outcome.passed }}", with: { body: "sorry" } }\n',
      ),
      inner: inner('  - { action: gh-comment, with: { body: hello, pr: 999 } }'),
    }),
  );
  const { number } = await scene.open();
  await scene.advance(5_000);
  expect((await step(scene))?.outcome).toMatchObject({ passed: false, details: { status: 'failed' } });
  expect(await said(scene)).toContain('inner failed: gh-comment');
  expect(chainComments(scene, number)).toEqual(['sorry']);
});

test('a push ends the run of a step together with the run that it belongs to', { tags: 'slow' }, async () => {
  const scene = await start(only({ outer: outer(), inner: inner(WAITS) }));
  await scene.open();
  expect(await said(scene)).toBe('until its run of the chain inner has ended');
  await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { 'docs/page.txt': 'Two.\n' },
  });
  await scene.advance(5_000);
  const [newer, older] = await scene.runs('inner');
  expect(older).toMatchObject({ status: 'cancelled', reason: { code: 'run.cancelled.parent_ended' } });
  expect(newer?.status).toBe('waiting_until');
});

test('a merge in the run of a step has its own question, and the step that waits for it goes on', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    only({
      outer: outer(
        '',
        '  - { action: gh-comment, with: { body: "merged: {{ steps.sub.outcome.passed }}" } }\n',
      ),
      inner: inner('  - { id: merge, action: gh-merge, requires_approval: true }'),
    }),
  );
  const { number, headSha } = await scene.open();
  await scene.advance(5_000);
  expect(scene.github.merges).toEqual([]);
  expect(scene.verdicts(headSha)).toMatchObject({ 'countersign / outer / sub': 'in_progress' });
  const question = scene.github.comments(REPO, number).find(({ body }) => body.includes(':approval'));
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(20_000);
  expect(scene.github.merges).toHaveLength(1);
  expect(chainComments(scene, number)).toEqual(['merged: true']);
  expect((await loaded(scene, 'outer')).run.status).toBe('completed');
});

test('the run of a step neither replaces nor stands for the own run of its chain', {
  tags: 'slow',
}, async () => {
  const own = inner(WAITS).replace('manual.fired', 'pr.opened');
  const scene = await start(only({ outer: outer(), inner: own }));
  const { number, headSha } = await scene.open();
  await scene.advance(5_000);
  expect(Object.keys(scene.verdicts(headSha)).sort()).toEqual([
    'countersign / inner',
    'countersign / outer',
    'countersign / outer / sub',
  ]);
  await scene.say(number, 'mia', '/countersign fire inner');
  await scene.advance(5_000);
  const runs = await scene.runs('inner');
  expect(runs.map(({ status, facts }) => [facts.parent !== undefined, status]).sort()).toEqual([
    [false, 'cancelled'],
    [false, 'waiting_until'],
    [true, 'waiting_until'],
  ]);
});

test('a step that waits for another chain continues after a restart, with the run that it began', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ outer: outer(), inner: inner(WAITS) }));
  await scene.open();
  await scene.restart();
  await scene.advance(3_600_000 + 60_000);
  expect((await step(scene))?.outcome).toMatchObject({ passed: true });
  expect(await scene.runs('inner')).toHaveLength(1);
});

test('chains that run each other in a circle end, and say why', { tags: 'slow' }, async () => {
  const back = '  - { action: chain, with: { chain: outer } }';
  const scene = await start(only({ outer: outer(), inner: inner(back) }));
  await scene.open();
  await scene.advance(60_000);
  const all = [...(await scene.runs('outer')), ...(await scene.runs('inner'))];
  expect(all).toHaveLength(6);
  expect(all.map(({ reason }) => reason?.summary).join()).toContain(
    'outer does not begin: 5 runs have started one another already, and no more may',
  );
});

eachFirstQuick([
  ['there is no chain "innr": did you mean "inner"?', '{ chain: innr }'],
  ['there is no input "who"', '{ chain: inner, inputs: { who: ada } }'],
])('a step says that its chain cannot run: %s', async (because, inputs) => {
  const scene = await start(
    only({
      outer: outer().replace(/with: .*/, `with: ${inputs} }`),
      inner: inner(WAITS, '{ count: { type: number } }'),
    }),
  );
  await scene.open();
  await scene.advance(5_000);
  const { run, invocations } = await loaded(scene, 'outer');
  expect(run.status).toBe('failed');
  expect(invocations[0]?.reason?.summary).toContain(because);
  expect(await scene.runs('inner')).toEqual([]);
});

test('the configuration check of a pull request names chains that would run each other', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ outer: outer(), inner: inner(WAITS) }));
  const { headSha } = await scene.open({
    files: { [`${CHAINS}/inner.yaml`]: inner('  - { action: chain, with: { chain: outer } }') },
  });
  await scene.advance(5_000);
  expect(scene.check(headSha, 'configuration')?.summary).toContain(
    'these chains run each other: inner → outer → inner',
  );
});

eachFirstQuick<[ChainStatus, string]>([
  ['paused', 'inner was paused by the operator on 2026-03-02 09:00 UTC'],
  ['disabled', 'inner was disabled by the operator on 2026-03-02 09:00 UTC'],
])('a step does not run a chain that the operator %s, and says so', async (status, because) => {
  const scene = await start(only({ outer: outer(), inner: inner(WAITS) }));
  await store(scene, { name: 'inner', status });
  await scene.open();
  await scene.advance(5_000);
  expect(await step(scene)).toMatchObject({ status: 'failed' });
  expect(await said(scene)).toContain(because);
  expect(await scene.runs('inner')).toEqual([]);
});

test('a step that takes too long ends the run of its chain, which says why', { tags: 'slow' }, async () => {
  const timed = outer().replace('id: sub,', 'id: sub, timeout: 10m,');
  const scene = await start(only({ outer: timed, inner: inner(WAITS) }));
  const { headSha } = await scene.open();
  await scene.advance(11 * 60_000);
  expect((await loaded(scene, 'outer')).run.status).toBe('timed_out');
  expect((await loaded(scene, 'inner')).run).toMatchObject({
    status: 'cancelled',
    reason: { code: 'run.cancelled.parent_ended' },
  });
  expect(scene.check(headSha, 'outer / sub')).toMatchObject({
    conclusion: 'cancelled',
    title: 'Stopped: the step sub of outer, which ran it, has ended',
    actions: [],
  });
});

const IF_NOT =
  '  - { action: gh-comment, condition: "{{ not steps.sub.outcome.passed }}", with: { body: "{{ steps.sub.outcome.details.status }}" } }\n';

test('a step whose chain takes too long has not passed', { tags: 'slow' }, async () => {
  const timed = inner(WAITS.replace('action: wait,', 'action: wait, timeout: 10m,'));
  const scene = await start(only({ outer: outer('', IF_NOT), inner: timed }));
  const { number } = await scene.open();
  await scene.advance(11 * 60_000);
  expect((await step(scene))?.outcome).toMatchObject({ passed: false, details: { status: 'timed_out' } });
  expect(await said(scene)).toContain('inner timed out: wait');
  expect(chainComments(scene, number)).toEqual(['timed\\_out']);
});

test('the cancel button of the run of a step cancels both runs of the pull request', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ outer: outer('', IF_NOT), inner: inner(WAITS) }));
  const { number, headSha } = await scene.open();
  await scene.github.clickAction(REPO, scene.check(headSha, 'outer / sub')?.id ?? 0, 'will', 'cancel');
  await scene.advance(5_000);
  const ended = { status: 'cancelled', reason: { code: 'run.cancelled.by_person' } };
  expect((await loaded(scene, 'outer')).run).toMatchObject(ended);
  expect((await loaded(scene, 'inner')).run).toMatchObject(ended);
  expect(chainComments(scene, number)).toEqual([]);
});

/** Without a pull request: the chain runs about the newest commit of the default branch. */
async function hourly(steps: string, chains: Record<string, string>) {
  const scheduled = `name: outer\ntrigger: { schedule: every 1h }\nsteps:\n${steps}`;
  const scene = await start(only({ outer: scheduled, ...chains }));
  const pushed = { repo: REPO, branch: 'main', author: 'mia', files: { 'a.txt': 'a\n' } };
  const sha = await scene.github.push(pushed);
  await scene.advance(3_600_000 + 60_000);
  return { scene, sha };
}
const STEP = '  - { id: sub, action: chain, with: { chain: inner } }\n';

test('without a pull request, a step runs a chain, and goes on if somebody cancels that run alone', {
  tags: 'slow',
}, async () => {
  const { scene, sha } = await hourly(
    `${STEP}  - { action: gh-status, with: { context: said, state: success, description: "{{ steps.sub.outcome.details.status }}" } }\n`,
    { inner: inner(WAITS) },
  );
  expect(await scene.runs('inner')).toMatchObject([{ pullRequest: null, headSha: sha }]);
  await scene.github.clickAction(REPO, scene.check(sha, 'outer / sub')?.id ?? 0, 'will', 'cancel');
  await scene.advance(5_000);
  expect((await loaded(scene, 'inner')).run).toMatchObject({ status: 'cancelled' });
  expect(await said(scene)).toBe('inner was cancelled: cancelled by will');
  expect((await step(scene))?.outcome).toMatchObject({ passed: false, details: { status: 'cancelled' } });
  expect((await loaded(scene, 'outer')).run.status).toBe('completed');
  expect(scene.github.statuses(REPO, sha)).toMatchObject([{ description: 'cancelled' }]);
});

test('without a pull request, a step does not run a chain that needs one, and says so', {
  tags: 'slow',
}, async () => {
  const { scene } = await hourly(STEP, { inner: inner('  - { action: gh-label, with: { labels: [new] } }') });
  expect((await loaded(scene, 'outer')).run.status).toBe('failed');
  expect(await said(scene)).toContain('in the chain "inner", ');
  expect(await scene.runs('inner')).toEqual([]);
});

test('steps that run chains of such steps begin at most a hundred runs, and say why', {
  tags: 'slow',
}, async () => {
  const chain = (name: string, step: string, count: number) =>
    `name: ${name}\ntrigger: { event: ${name === 'outer' ? 'pr.opened' : 'manual.fired'} }\nsteps:\n${`  - { depends_on: [], ${step} }\n`.repeat(count)}`;
  const runs = (next: string) => `action: chain, with: { chain: ${next} }`;
  const waits = 'action: wait, with: { for: 1s }';
  const scene = await start(
    only({
      outer: chain('outer', runs('middle'), 2),
      middle: chain('middle', runs('inner'), 50),
      inner: chain('inner', runs('last'), 2),
      last: chain('last', waits, 1),
    }),
  );
  await scene.open();
  await scene.advance(120_000);
  expect([(await scene.runs('inner')).length, (await scene.runs('last')).length]).toEqual([100, 0]);
  // Whichever of the two steps is first; the other one says that this one failed before it.
  const { invocations } = await loaded(scene, 'inner');
  expect(invocations.map(({ reason }) => reason?.summary)).toContainEqual(
    expect.stringContaining(
      'last does not begin: with the chains that run it, it could begin more than 100 times',
    ),
  );
});
