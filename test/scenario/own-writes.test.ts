import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { flowChain } from './support-chains.ts';
import { only, type Scene, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

const depths = async (scene: Scene, chain = 'flow') =>
  (await scene.runs(chain)).map(({ facts }) => facts.depth ?? 0).toReversed();

const skipped = async (scene: Scene) =>
  (await scene.app.storage.read.firings.list({ limit: 10 })).map(({ trigger, reason, summary, runId }) => ({
    trigger,
    reason,
    summary,
    runId,
  }));

async function merge(scene: Scene, number: number, then?: () => void): Promise<void> {
  await scene.github.mergePullRequest(REPO, number, 'mia');
  then?.();
  await scene.advance(10_000);
}

const RELEASING = flowChain(
  'action: gh-release, with: { tag: "{{ trigger.tag | default(\'v1\') }}.1", draft: false }',
  '[{ event: pr.merged }, { event: release.published }]',
);

test('a release of the app is no reason to publish another: such a run has too little trust', async () => {
  const scene = await start(RELEASING);
  await merge(scene, (await scene.open()).number);
  await scene.advance(60_000);
  expect(await depths(scene)).toEqual([0, 1]);
  expect(await scene.runs('flow')).toMatchObject([{ status: 'failed' }, { status: 'completed' }]);
});

test('a chain that publishes a release for each release ends after five runs, and says so', {
  tags: 'slow',
}, async () => {
  const scene = await start(RELEASING);
  const { number } = await scene.open();
  await merge(scene, number, () => scene.github.holdDeliveries());
  for (let round = 0; round < 6; round++) {
    // As if GitHub named a person as the author, whom the run may trust.
    const { payload } = scene.github.deliveries.findLast(({ event }) => event === 'release') ?? {};
    const { release, ...more } = payload as { release: object };
    const author = { login: 'mia', id: 1, type: 'User' };
    const signed = scene.github.signedDelivery('release', { ...more, release: { ...release, author } });
    await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...signed });
    await scene.advance(10_000);
  }
  expect(await depths(scene)).toEqual([0, 1, 2, 3, 4, 5]);
  const [last] = await scene.runs('flow');
  expect(await skipped(scene)).toEqual([
    {
      trigger: 'release.published',
      reason: 'too_deep',
      summary:
        'the release v1.1.1.1.1.1.1 starts no chain: 5 runs have started one another, and at most 5 may',
      runId: last?.id,
    },
  ]);
});

test('a chain that sets a status for each status ends after five runs', { tags: 'slow' }, async () => {
  const answer = (name: string, other: string) => `name: ${name}
trigger: { event: ci.changed, filter: { check: ${other} } }
steps: [{ action: gh-status, with: { context: ${name}, state: success } }]
`;
  const scene = await start(only({ ping: answer('ping', 'pong'), pong: answer('pong', 'ping') }));
  const sha = await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files: { a: 'a\n' } });
  await scene.github.setStatus(REPO, sha, { context: 'ping', state: 'success' });
  await scene.advance(60_000);
  expect([...(await depths(scene, 'ping')), ...(await depths(scene, 'pong'))].toSorted()).toEqual([
    0, 1, 2, 3, 4, 5,
  ]);
  expect(await skipped(scene)).toMatchObject([{ trigger: 'ci.changed', reason: 'too_deep' }]);
});

test('a chain that starts a workflow for each check of that workflow ends after five runs', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...flowChain(
      'action: gh-dispatch, with: { workflow: build.yml }',
      '{ event: ci.changed, filter: { check: "job *" } }',
    ),
    '.github/workflows/build.yml': 'on: workflow_dispatch\n',
  });
  const sha = await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files: { a: 'a\n' } });
  for (let round = 0; round < 8; round++) {
    await scene.github.reportCheck(REPO, sha, {
      name: `job ${round}`,
      status: 'completed',
      conclusion: 'success',
      detailsUrl: `https://github.test/octo/app/actions/runs/${scene.github.startedWorkflows(REPO).at(-1)?.id ?? 0}/job/${round}`,
    });
    await scene.advance(10_000);
  }
  expect(await depths(scene)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await skipped(scene)).toMatchObject([
    { trigger: 'ci.changed', reason: 'too_deep' },
    { trigger: 'ci.changed', reason: 'too_deep', summary: expect.stringMatching(/^the check job 6 starts/) },
  ]);
});

test('a chain that backports each merge ends after five backports of backports', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain('action: gh-backport, with: { branches: ["{{ trigger.base }}x"] }', '{ event: pr.merged }'),
  );
  for (let branch = 'mainx'; branch.length < 12; branch += 'x')
    await scene.github.push({ repo: REPO, branch, author: 'mia' });
  await scene.open({ files: { 'a.txt': 'a\n' } });
  for (let number = 1; number <= 6; number++) await merge(scene, number);
  expect(scene.github.pullRequests(REPO).at(-1)).toMatchObject({ number: 7, baseRef: 'mainxxxxxx' });
  await merge(scene, 7);
  expect(await depths(scene)).toEqual([0, 1, 2, 3, 4, 5]);
  const [last] = await scene.runs('flow');
  expect(await skipped(scene)).toMatchObject([
    {
      trigger: 'pr.merged',
      reason: 'too_deep',
      summary: expect.stringMatching(/^the merge of #7 starts/),
      runId: last?.id,
    },
  ]);
});

test('a chain that deploys after each merge still does after 50 merges', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('action: gh-comment, with: { body: deployed }', '{ event: pr.merged }'),
  );
  for (let index = 0; index < 50; index++) {
    const { number } = await scene.open({ branch: `b${index}`, files: { [`${index}.txt`]: 'a\n' } });
    await scene.github.mergePullRequest(REPO, number, 'mia');
    await scene.advance(UPDATES_SHOWN_MS);
  }
  expect(await depths(scene)).toEqual(Array.from({ length: 50 }, () => 0));
  expect(await skipped(scene)).toEqual([]);
});
