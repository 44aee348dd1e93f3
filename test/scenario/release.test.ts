import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { flowChain } from './support-chains.ts';
import { type Scene, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

const releasing = (inputs: string, trigger = '{ event: pr.merged }') =>
  flowChain(`action: gh-release, with: ${inputs}`, trigger);

async function merged(
  scene: Scene,
  more: { title?: string; fork?: string; author?: string } = {},
): Promise<string> {
  const { number } = await scene.open(more);
  const sha = await scene.github.mergePullRequest(REPO, number, 'mia');
  await scene.advance(10_000);
  return sha;
}

const summary = async (scene: Scene) => {
  const [run] = await scene.runs('flow');
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  return state?.invocations[0]?.outcome?.summary ?? state?.invocations[0]?.reason?.summary;
};

test('a step drafts a release of the base branch, and notifies nobody', { tags: 'slow' }, async () => {
  const scene = await start(
    releasing('{ tag: v1.0.0, name: "One: {{ trigger.title }}", body: "# New\\n\\n{{ trigger.title }}" }'),
  );
  const sha = await merged(scene, { title: '<b>Hi</b> @octo/core' });
  expect(scene.github.releases(REPO)).toMatchObject([
    {
      tag: 'v1.0.0',
      target: sha,
      draft: true,
      prerelease: false,
      name: 'One: <b>Hi</b> @octo/core',
      body: '# New\n\n&lt;b&gt;Hi&lt;/b&gt; @&#8203;octo/core',
    },
  ]);
  expect(scene.github.tags(REPO).size).toBe(0);
  expect(await summary(scene)).toBe(`drafted the release v1.0.0 of ${sha.slice(0, 7)}`);
});

test('a step that says so publishes the release, with its tag', { tags: 'slow' }, async () => {
  const scene = await start(releasing('{ tag: v1.0.0, draft: false, prerelease: true, target: default }'));
  const sha = await merged(scene);
  expect(scene.github.releases(REPO)).toMatchObject([
    { tag: 'v1.0.0', name: 'v1.0.0', draft: false, prerelease: true },
  ]);
  expect(scene.github.tags(REPO).get('v1.0.0')).toBe(sha);
});

test('a release whose answer is lost is made once', { tags: 'slow' }, async () => {
  const scene = await start(releasing('{ tag: v1.0.0 }'));
  scene.github.fail(
    ({ method, path }) => method === 'POST' && path.endsWith('/releases'),
    { after: 'reset' },
    1,
  );
  await merged(scene);
  await scene.advance(120_000);
  expect(scene.github.releases(REPO)).toHaveLength(1);
  expect(await summary(scene)).toBe('found the release v1.0.0, and left it as it is');
});

test('a second merge leaves the release of that tag as it is', { tags: 'slow' }, async () => {
  const scene = await start(releasing('{ tag: v1.0.0, draft: false }'));
  const first = await merged(scene);
  const { number } = await scene.open({ branch: 'other', files: { 'b.txt': 'b\n' } });
  await scene.github.mergePullRequest(REPO, number, 'mia');
  await scene.advance(10_000);
  expect(scene.github.tags(REPO).get('v1.0.0')).toBe(first);
  expect(await summary(scene)).toBe('found the release v1.0.0, and left it as it is');
});

eachFirstQuick([
  ['{ tag: "{{ trigger.title }}" }', 'a tag has only letters, digits and . _ / + -', {}],
  ['{ tag: v1 }', 'needs standard', { fork: 'otto/app', author: 'otto' }],
])('nothing is released with %s', async (inputs, because, more) => {
  const scene = await start(releasing(inputs));
  await merged(scene, { title: 'v1 ; rm', ...more });
  expect(await summary(scene)).toContain(because);
  expect(scene.github.releases(REPO)).toEqual([]);
});

test('a tag of another commit is not released', { tags: 'slow' }, async () => {
  const scene = await start(releasing('{ tag: v1.0.0, draft: false }'));
  const tags = scene.github.tags(REPO) as Map<string, string>;
  tags.set('v1.0.0', scene.github.branch(REPO, 'main') ?? '');
  await merged(scene);
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await summary(scene)).toContain('The tag v1.0.0 exists already, for another commit.');
  expect(scene.github.releases(REPO)).toEqual([]);
});
