import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { only, type Scene, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();
const HOUR = 3_600_000;

/** Sends a webhook that nothing in the stand-in causes, from the repository that has sent one. */
async function deliver(scene: Scene, event: string, payload: object, guid?: string): Promise<void> {
  const last = scene.github.deliveries.findLast(({ event }) => !event.startsWith('installation'));
  const { installation, repository, sender } = (last?.payload ?? {}) as Record<string, object>;
  const signed = scene.github.signedDelivery(event, { installation, repository, sender, ...payload }, guid);
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...signed });
  await scene.advance(UPDATES_SHOWN_MS);
}

test('a chain with several triggers runs for each, and conditions see which one fired', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: "{{ trigger.kind }} {{ trigger.event }}" }',
      '[{ event: pr.merged }, { event: pr.labeled, filter: { label: "again" } }]',
    ),
  );
  const { number } = await scene.open();
  expect(await scene.runs('flow')).toEqual([]);
  await scene.github.addLabel(REPO, number, 'will', 'again');
  await scene.advance(UPDATES_SHOWN_MS);
  await scene.github.mergePullRequest(REPO, number, 'mia');
  await scene.settle();
  expect(chainComments(scene, number)).toEqual(['event pr.labeled', 'event pr.merged']);
});

test('a chain for heads and for labels keeps its run for the head when a label fires another', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain('skill: ci', '[{ event: pr.opened }, { event: pr.labeled, filter: { label: again } }]'),
  );
  const { number } = await scene.open();
  await scene.advance(40_000);
  await scene.github.addLabel(REPO, number, 'will', 'again');
  await scene.advance(40_000);
  await scene.github.addLabel(REPO, number, 'will', 'other');
  await scene.advance(40_000);
  const runs = await scene.runs('flow');
  expect(runs.map(({ status, facts }) => [facts.fired?.source, status])).toEqual([
    ['pr.labeled', 'completed'],
    [undefined, 'completed'],
  ]);
});

test('the same label added twice fires twice, and a redelivery of either not at all', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain('action: gh-comment, with: { body: "{{ trigger.label }}" }', '{ event: pr.labeled }'),
  );
  const { number } = await scene.open();
  for (const _ of [1, 2]) {
    await scene.github.addLabel(REPO, number, 'will', 'ping');
    await scene.advance(UPDATES_SHOWN_MS);
    await scene.github.removeLabel(REPO, number, 'will', 'ping');
    await scene.advance(UPDATES_SHOWN_MS);
  }
  for (const { event, action, payload } of scene.github.deliveries)
    if (event === 'pull_request' && action === 'labeled') await deliver(scene, event, payload as object);
  expect(chainComments(scene, number)).toEqual(['ping', 'ping']);
});

test('labels that the app adds fire no chain', { tags: 'slow' }, async () => {
  const label = 'action: gh-label, with: { labels: [other] }';
  const scene = await start(
    only({
      flow: `name: flow\ntrigger: { event: pr.opened }\nsteps: [{ ${label} }]\n`,
      echo: 'name: echo\ntrigger: { event: pr.labeled }\nsteps: [{ skill: ci }]\n',
    }),
  );
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['other']);
  expect(await scene.runs('echo')).toEqual([]);
});

test('a review by a person fires the chains for what it says', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: "{{ trigger.reviewer }}: {{ trigger.review | length }}" }',
      '{ event: pr.review_submitted, filter: { review: [changes_requested] } }',
    ),
  );
  const { number } = await scene.open();
  await scene.github.review(REPO, number, 'mia', 'APPROVED');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, number)).toEqual([]);
  await scene.github.review(REPO, number, 'mia', 'CHANGES_REQUESTED');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, number)).toEqual(['mia: 17']);
});

test('an approval by somebody without write access counts as a comment, also in a composite', {
  tags: 'slow',
}, async () => {
  const comment = 'action: gh-comment, with: { body: "{{ trigger.kind }}: {{ trigger.review }}" }';
  const review = (state: string) => `{ event: pr.review_submitted, filter: { review: ${state} } }`;
  const both = `all_of: [${review('approved')}, { event: pr.labeled, filter: { label: ship } }]`;
  const triggers = `[${review('[approved, commented]')}, { ${both}, within: 1h, key: pull_request }]`;
  const scene = await start(flowChain(comment, triggers));
  const { number } = await scene.open();
  await scene.github.review(REPO, number, 'otto', 'APPROVED');
  await scene.github.addLabel(REPO, number, 'will', 'ship');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, number)).toEqual(['event: commented']);
  await scene.github.review(REPO, number, 'will', 'APPROVED');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, number)).toEqual(['event: commented', 'event: approved', 'all\\_of: approved']);
});

test('a label on an issue fires the chains for it', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: "{{ trigger.actor }} added {{ trigger.label }}" }',
      '{ event: issue.labeled, filter: { label: "area/*", labels: { none: [wontfix] } } }',
    ),
  );
  const number = await scene.github.createIssue(REPO, 'otto', 'A question');
  await scene.github.addLabel(REPO, number, 'will', 'bug');
  await scene.github.addLabel(REPO, number, 'will', 'area/api');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, number)).toEqual(['will added area/api']);
});

test('a failed check on the default branch fires the chains for it, once', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'skill: ci',
      '{ event: ci.changed, filter: { base: "{{ repo.default_branch }}", conclusion: [failure, error] } }',
    ),
  );
  const sha = await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { 'a.txt': 'a\n' },
  });
  await scene.github.setStatus(REPO, sha, { context: 'build', state: 'success' });
  await scene.settle();
  expect(await scene.runs('flow')).toEqual([]);
  await scene.github.setStatus(REPO, sha, { context: 'build', state: 'failure' });
  await scene.settle();
  const failed = scene.github.deliveries.findLast(({ event }) => event === 'status');
  await deliver(scene, 'status', failed?.payload as object);
  expect(await scene.runs('flow')).toMatchObject([{ headSha: sha, pullRequest: null }]);
  expect(scene.check(sha, 'flow')).toBeDefined();
});

test('a published release fires the chains for its tag, once, and shows on the default branch', async () => {
  const scene = await start(
    flowChain('skill: ci', '{ event: release.published, filter: { tag: "v*", prerelease: false } }'),
  );
  const sha = await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { 'a.txt': 'a\n' },
  });
  await scene.settle();
  const release = (id: number, tag_name: string, prerelease: boolean) => ({
    action: 'published',
    release: { id, tag_name, name: null, body: 'New.', prerelease, author: { login: 'mia', type: 'User' } },
  });
  await deliver(scene, 'release', release(1, 'v1.0.0-rc.1', true));
  await deliver(scene, 'release', release(2, 'nightly', false));
  expect(await scene.runs('flow')).toEqual([]);
  await deliver(scene, 'release', release(3, 'v1.0.0', false));
  await deliver(scene, 'release', release(3, 'v1.0.0', false));
  expect(await scene.runs('flow')).toMatchObject([
    { headSha: sha, facts: { trigger: { tag: 'v1.0.0', kind: 'event' } } },
  ]);
  expect(scene.check(sha, 'flow')).toBeDefined();
});

test('the outcome of a step fires the chains that wait for it', { tags: 'slow' }, async () => {
  const after = `name: after
trigger: { event: invocation.completed, filter: { chain: flow, kind: ci_result, passed: true } }
steps: [{ action: gh-comment, with: { body: "{{ trigger.chain }}/{{ trigger.step }}: {{ trigger.passed }}" } }]
`;
  const flow = 'name: flow\ntrigger: { event: pr.opened }\nsteps: [{ skill: ci }]\n';
  const scene = await start(only({ flow, after }));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(40_000);
  expect(chainComments(scene, number)).toEqual(['flow/ci: true']);
});

test('a chain that starts itself ends after five runs', { tags: 'slow' }, async () => {
  const ping = `name: ping
trigger: [{ event: pr.opened }, { event: invocation.completed, filter: { chain: ping } }]
steps: [{ action: gh-comment, with: { body: "depth {{ trigger.depth | default(0) }}" } }]
`;
  const scene = await start(only({ ping }));
  const { number } = await scene.open();
  await scene.advance(60_000);
  expect(chainComments(scene, number)).toEqual(
    ['0', '1', '2', '3', '4', '5'].map((depth) => `depth ${depth}`),
  );
});

test('the checks of one commit start a chain at most 100 times, and one firing counts the others', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain(
      'action: gh-status, with: { context: seen, state: success }',
      '{ event: ci.changed, filter: { check: "job*" } }',
    ),
  );
  const { headSha } = await scene.open({ author: 'otto', fork: 'otto/app' });
  for (let job = 0; job < 103; job++) {
    await scene.github.reportCheck(REPO, headSha, {
      name: `job ${job}`,
      status: 'completed',
      conclusion: 'success',
    });
  }
  await scene.advance(UPDATES_SHOWN_MS);
  const begun = await scene.app.storage.read.runs.countByStatus();
  expect(Object.values(begun).reduce((sum, count) => sum + count)).toBe(100);
  const skipped = await scene.app.storage.read.firings.list({ status: 'skipped', limit: 10 });
  expect(skipped).toMatchObject([{ reason: 'too_many', trigger: 'ci.changed', count: 3 }]);
  expect(skipped[0]?.summary).toContain('one commit may start it at most 100 times');
});

test('reviews by an outsider start a chain at most 100 times a day for one pull request, and one firing counts the others', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain('action: gh-label, with: { labels: [seen] }', '{ event: pr.review_submitted }'),
  );
  const { number } = await scene.open();
  const review = () => scene.github.review(REPO, number, 'otto', 'COMMENTED');
  for (let count = 0; count < 103; count++) await review();
  await scene.advance(UPDATES_SHOWN_MS);
  const runs = () => scene.app.storage.read.runs.list({ chain: 'flow', limit: 200 });
  expect(await runs()).toHaveLength(100);
  const skipped = await scene.app.storage.read.firings.list({ status: 'skipped', limit: 10 });
  expect(skipped).toMatchObject([{ reason: 'too_many', count: 3 }]);
  expect(skipped[0]?.summary).toBe(
    'the review of #1 starts this chain no more: the reviews of one pull request may start it at most 100 times a day (UTC)',
  );
  await scene.sleep(24 * HOUR);
  await review();
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await runs()).toHaveLength(101);
});

test('the steps of chains that start each other begin at most 100 runs, and one firing of each chain counts the others', {
  tags: 'slow',
  // 101 runs of 12 steps: over 5 minutes on PostgreSQL on a busy machine.
  timeout: 1_200_000,
}, async () => {
  const step = '{ depends_on: [], action: gh-comment, with: { body: again } }';
  const ping = `name: ping
trigger: [{ event: pr.opened }, { event: invocation.completed }]
steps: [${Array.from({ length: 12 }, () => step).join(', ')}]
`;
  const scene = await start(only({ ping }));
  await scene.open();
  await scene.advance(60_000);
  const begun = await scene.app.storage.read.runs.countByStatus();
  expect(Object.values(begun).reduce((sum, count) => sum + count)).toBe(101);
  const skipped = await scene.app.storage.read.firings.list({ status: 'skipped', limit: 10 });
  expect(skipped).toMatchObject([{ reason: 'too_many', trigger: 'invocation.completed' }]);
  expect(skipped[0]?.summary).toContain('one run may cause at most 100 others');
  expect(skipped[0]?.count).toBeGreaterThan(1);
});

eachFirstQuick([
  ['labels: all and none', 'labels: { all: [a, b], none: [c] }', ['a', 'b'], ['a', 'b', 'c']],
  ['a title', 'title: "^Change"', ['x'], undefined],
])('a filter on %s lets a chain run only if it matches', async (_key, filter, labels, others) => {
  const scene = await start(
    flowChain('action: gh-comment, with: { body: ran }', `{ event: pr.opened, filter: { ${filter} } }`),
  );
  const yes = await scene.open({ branch: 'yes' });
  const no = await scene.open({ branch: 'no', title: others ? 'Change' : 'Do not change' });
  for (const label of labels) await scene.github.addLabel(REPO, yes.number, 'will', label);
  for (const label of (others ?? []).toReversed())
    await scene.github.addLabel(REPO, no.number, 'will', label);
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, yes.number)).toEqual(['ran']);
  expect(chainComments(scene, no.number)).toEqual([]);
});
