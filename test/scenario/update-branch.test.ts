import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { flowChain } from './support-chains.ts';
import { type Scene, scenes } from './support-scene.ts';

const start = scenes();
const CHAIN = flowChain('action: gh-update-branch', '{ event: manual.fired }');

/** The base gets a commit after the pull request was opened, and mia fires the chain. */
async function fired(
  scene: Scene,
  { base = { 'other.txt': 'o\n' }, ...more }: { base?: Record<string, string>; fork?: string } = {},
): Promise<{ number: number; headSha: string }> {
  const opened = await scene.open({ files: { 'README.md': '# Ours\n' }, ...more });
  if (Object.keys(base).length > 0)
    await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files: base });
  await scene.say(opened.number, 'mia', '/countersign fire flow');
  await scene.advance(10_000);
  return opened;
}

const ends = async (scene: Scene) =>
  Promise.all(
    (await scene.runs('flow')).map(async ({ id, status }) => {
      const state = await scene.app.storage.read.runs.load(id);
      const [step] = state?.invocations ?? [];
      return `${status}: ${step?.outcome?.summary ?? step?.reason?.summary}`;
    }),
  );

const updates = (scene: Scene) =>
  scene.github.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('/update-branch'))
    .length;

test('a head that is behind gets the base merged into it, which ends the run for the earlier head', {
  tags: 'slow',
}, async () => {
  const scene = await start(CHAIN);
  const { number, headSha } = await fired(scene);
  const now = scene.github.pullRequest(REPO, number).headSha;
  expect(scene.github.commit(REPO, now).parents).toEqual([headSha, scene.github.branch(REPO, 'main')]);
  expect(scene.github.fileAt(REPO, now, 'other.txt')).toBe('o\n');
  expect(await ends(scene)).toEqual([expect.stringMatching(/^cancelled: superseded by a newer push/)]);
});

test('a head that is up to date stays as it is', { tags: 'slow' }, async () => {
  const scene = await start(CHAIN);
  const { number, headSha } = await fired(scene, { base: {} });
  expect(scene.github.pullRequest(REPO, number).headSha).toBe(headSha);
  expect(updates(scene)).toBe(0);
  expect(await ends(scene)).toEqual([`completed: #${number} is up to date with main`]);
});

eachFirstQuick([
  ['conflicts', { base: { 'README.md': '# Theirs\n' } }, 'merge conflict between base and head'],
  [
    'is in a fork that the app may not write to',
    { fork: 'otto/app' },
    'Resource not accessible by integration',
  ],
])('the step fails with GitHub’s reason for a head that %s', async (_, more, because) => {
  const scene = await start(CHAIN);
  const { number, headSha } = await fired(scene, more);
  expect(scene.github.pullRequest(REPO, number).headSha).toBe(headSha);
  expect(await ends(scene)).toEqual([expect.stringContaining(because)]);
});

test('an update whose answer is lost is made once', { tags: 'slow' }, async () => {
  const scene = await start(CHAIN);
  scene.github.fail(
    ({ method, path }) => method === 'PUT' && path.endsWith('/update-branch'),
    { after: 'reset' },
    1,
  );
  const { number, headSha } = await fired(scene);
  await scene.advance(60_000);
  const now = scene.github.pullRequest(REPO, number).headSha;
  expect(scene.github.commit(REPO, now).parents[0]).toBe(headSha);
});
