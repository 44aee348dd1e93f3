import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { type Scene, scenes, section } from './support-scene.ts';

const start = scenes();

async function steps(scene: Scene, chain = 'flow'): Promise<Record<string, string>> {
  const [run] = await scene.runs(chain);
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return Object.fromEntries(state?.invocations.map(({ stepId, status }) => [stepId, status]) ?? []);
}

const BAD_LABEL = 'action: gh-label, with: { labels: "{{ [] }}" }';

test('the steps of a diamond run in parallel, and the last one after both', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(`
      id: first, action: gh-label, with: { labels: [first] }
      id: left, skill: ci, depends_on: [first]
      id: right, skill: ci, depends_on: [first]
      id: last, action: gh-label, depends_on: [left, right], with: { labels: [last] }
    `),
  );
  const { number, headSha } = await scene.open();
  expect(await steps(scene)).toEqual({
    first: 'completed',
    left: 'waiting_ci',
    right: 'waiting_ci',
    last: 'pending',
  });
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  expect(await steps(scene)).toMatchObject({ left: 'completed', right: 'completed', last: 'completed' });
  expect(scene.github.labels(REPO, number)).toEqual(['first', 'last']);
});

test('a step without dependencies starts at once beside a waiting one', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('skill: ci\naction: gh-label, depends_on: [], with: { labels: [early] }'),
  );
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['early']);
});

test('a failed step fails the run, and later steps are skipped', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(`id: bad, ${BAD_LABEL}\nid: after, action: gh-label, with: { labels: [after] }`),
  );
  const { number, headSha } = await scene.open();
  expect(await steps(scene)).toEqual({ bad: 'failed', after: 'skipped' });
  expect(scene.github.labels(REPO, number)).toEqual([]);
  expect(scene.check(headSha, 'flow')).toMatchObject({ conclusion: 'failure' });
  expect(section(scene.check(headSha, 'flow')?.summary, 'Steps')).toMatchInlineSnapshot(`
    "Steps

    | | Step | State | Why | Took |
    |---|---|---|---|---:|
    | ❌ | \`bad\` | failed | gh-label cannot run with its inputs: "labels" must have at least 1 entry | 0 ms |
    | ⏭️ | \`after\` | skipped | bad failed before it |  |"
  `);
});

test('a step with on_failure: continue does not stop the run', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      `id: bad, on_failure: continue, ${BAD_LABEL}\nid: after, action: gh-label, with: { labels: [after] }`,
    ),
  );
  const { number } = await scene.open();
  expect(await steps(scene)).toEqual({ bad: 'failed', after: 'completed' });
  expect(scene.github.labels(REPO, number)).toEqual(['after']);
});

test('a step beside a failed one is ended, and says why', { tags: 'slow' }, async () => {
  const scene = await start(flowChain(`id: slow, skill: ci\nid: bad, depends_on: [], ${BAD_LABEL}`));
  const { headSha } = await scene.open();
  expect(await steps(scene)).toEqual({ slow: 'cancelled', bad: 'failed' });
  expect(scene.check(headSha, 'flow')?.status).toBe('completed');
});

test('a temporary failure of GitHub only delays a step', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('skill: ci'));
  const { headSha } = await scene.open();
  scene.github.fail(({ path }) => path.includes('/check-runs?'), { status: 502 }, 2);
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(20_000);
  expect(await steps(scene)).toEqual({ ci: 'completed' });
});

test('a label that GitHub refuses is reported as requested, not as added', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('action: gh-label, with: { labels: [x] }'));
  scene.github.fail(({ path }) => path.endsWith('/labels'), { status: 403 });
  const { number, headSha } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual([]);
  expect(section(scene.check(headSha, 'flow')?.summary, 'Steps')).toMatch(/added the label x to #/);
});

test('a connection that breaks during a comment leads to one comment', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('action: gh-comment, with: { body: Hello }'));
  scene.github.fail(
    ({ method, path }) => method === 'POST' && path.endsWith('/comments'),
    { after: 'reset' },
    1,
  );
  const { number } = await scene.open();
  await scene.advance(20_000);
  expect(chainComments(scene, number)).toEqual(['Hello']);
});

test('the app waits for a rate limit that GitHub names, and drops nothing', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('action: gh-comment, with: { body: Hello }'));
  scene.github.fail(
    ({ method, path }) => method === 'POST' && path.endsWith('/comments'),
    {
      status: 403,
      headers: { 'retry-after': '60' },
      body: { message: 'You have exceeded a secondary rate limit' },
    },
    1,
  );
  const { number } = await scene.open();
  expect(chainComments(scene, number)).toEqual([]);
  await scene.advance(70_000);
  expect(chainComments(scene, number)).toEqual(['Hello']);
  // The stand-in records a request that it refuses on demand without its body, which the validator then misses.
  scene.faultyRequests.splice(0);
});

test('a permanent failure fails the step with a reason', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('skill: ci'));
  scene.github.fail(({ path }) => path.includes('/check-runs?'), { status: 500 });
  const { headSha } = await scene.open();
  await scene.advance(30 * 60_000);
  expect(await steps(scene)).toEqual({ ci: 'failed' });
  expect(scene.check(headSha, 'flow')).toMatchObject({ conclusion: 'failure' });
  expect(scene.check(headSha, 'flow')?.title).toMatchInlineSnapshot(
    `"Step ci failed: gave up after several tries: GitHub answered 500 to GET commits/check-runs."`,
  );
});

// The queue gives up after some two minutes, and a job that it gave up is not retried.
test('a step with attempts left is retried after its pause when GitHub was unavailable for longer', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci, retry: { attempts: 2, backoff: 20m }'));
  const back = scene.github.fail(({ path }) => path.includes('/check-runs?'), { status: 500 });
  await scene.open();
  await scene.advance(10 * 60_000);
  back();
  await scene.advance(20 * 60_000);
  expect(await steps(scene)).toEqual({ ci: 'completed' });
});

test('a step that waits longer than its timeout times out, and the run says so', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci, timeout: 10m\naction: gh-label, with: { labels: [late] }'));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.advance(11 * 60_000);
  expect(await steps(scene)).toEqual({ ci: 'timed_out', 'gh-label': 'skipped' });
  expect(scene.check(headSha, 'flow')).toMatchObject({
    conclusion: 'timed_out',
    title: 'Step ci timed out',
  });
  expect(scene.github.labels(REPO, number)).toEqual([]);
});

test('a timeout that passes while the app is down takes effect when the app is back', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci, timeout: 10m'));
  const { headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  await scene.restart();
  await scene.advance(11 * 60_000);
  expect(scene.check(headSha, 'flow')?.conclusion).toBe('timed_out');
});

test('a condition can depend on an outcome', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(`
      skill: ci
      id: green, action: gh-label, condition: "{{ steps.ci.outcome.passed }}", with: { labels: [green] }
      id: red, action: gh-label, depends_on: [ci], condition: "{{ not steps.ci.outcome.passed }}", with: { labels: [red] }
    `),
  );
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await scene.settle();
  expect(await steps(scene)).toEqual({ ci: 'completed', green: 'skipped', red: 'completed' });
  expect(scene.github.labels(REPO, number)).toEqual(['red']);
});

test('neither a condition nor its opposite holds for a step that was skipped', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(`
      id: off, action: gh-label, condition: "{{ false }}", with: { labels: [off] }
      id: yes, action: gh-label, depends_on: [off], condition: "{{ steps.off.outcome.passed }}", with: { labels: [yes] }
      id: no, action: gh-label, depends_on: [off], condition: "{{ not steps.off.outcome.passed }}", with: { labels: [no] }
      id: said, action: gh-label, depends_on: [off], condition: "{{ steps.off.status == 'skipped' }}", with: { labels: [said] }
    `),
  );
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['said']);
});

test('labels are added to the existing ones', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('skill: ci\naction: gh-label, with: { labels: ["{{ trigger.author }}", big] }'),
  );
  const { number, headSha } = await scene.open();
  await scene.github.addLabel(REPO, number, 'will', 'mine');
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  expect(scene.github.labels(REPO, number)).toEqual(['mine', 'ada', 'big']);
});

test('a chain’s comment has its author’s text, with values filled in', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: "**Thanks**, {{ trigger.author }}: `{{ trigger.head }}` to {{ trigger.base }}, #{{ trigger.pr_number }}." }',
    ),
  );
  const { number } = await scene.open();
  expect(chainComments(scene, number)).toEqual([`**Thanks**, ada: \`change\` to main, #${number}.`]);
});

const HOSTILE =
  '@octo/everyone <img src=x> <!-- countersign:approval head=1 base=main --> [a](https://evil.test) #1';

eachFirstQuick([
  ['rings nobody', /(?<![\w&])@octo\/everyone/],
  ['contains no HTML', /<img/],
  ['contains no marker', /<!-- countersign:approval/],
  ['contains no link', /\[a\]\(https:/],
])('a value from a pull request in a chain’s comment %s', async (_what, harmful) => {
  const scene = await start(flowChain('action: gh-comment, with: { body: "Title: {{ trigger.title }}" }'));
  const { number } = await scene.open({ title: HOSTILE });
  expect(chainComments(scene, number)[0]).not.toMatch(harmful);
});

test('an action about another pull request than the run’s own is refused', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('action: gh-comment, with: { pr: 1, body: Hello }'));
  await scene.open({ branch: 'one' });
  const second = await scene.open({ branch: 'two', files: { 'two.txt': '2\n' } });
  expect(chainComments(scene, 1)).toEqual(['Hello']);
  expect(chainComments(scene, second.number)).toEqual([]);
  expect(scene.check(second.headSha, 'flow')?.conclusion).toBe('failure');
});
