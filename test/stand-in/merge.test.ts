import { expect, it } from 'vitest';
import { AT, openChange, REPO, startWorld, type World } from './support.ts';

function merge({ octokit }: World, sha?: string, method: 'merge' | 'squash' | 'rebase' = 'squash') {
  return octokit.pulls.merge({ ...AT, pull_number: 1, merge_method: method, ...(sha ? { sha } : {}) });
}

it('a merge closes the pull request and moves the base', async () => {
  const world = await startWorld();
  const { headSha } = await openChange(world.github);
  const { data } = await merge(world, headSha);
  expect(data.merged).toBe(true);
  expect(world.github.pullRequest(REPO, 1)).toMatchObject({
    state: 'closed',
    merged: true,
    mergedBy: 'countersign[bot]',
    mergeMethod: 'squash',
  });
  expect(world.github.fileAt(REPO, 'main', 'NEW.md')).toBe('new\n');
  expect(world.github.merges).toMatchObject([{ repo: REPO, number: 1, sha: data.sha, headSha }]);
});

it.each([
  ['merge', 2, 'Merge pull request #1 from acme/topic\n\nChange it'],
  ['squash', 1, 'Change it (#1)'],
  ['rebase', 1, 'Change it'],
] as const)('the method %s leaves a commit with %i parents', async (method, parents, message) => {
  const world = await startWorld();
  await openChange(world.github);
  await merge(world, undefined, method);
  const commit = world.github.commit(REPO, 'main');
  expect([commit.parents.length, commit.message]).toEqual([parents, message]);
});

it('both sides of a merge are kept if they changed different lines', async () => {
  const world = await startWorld({ files: { list: '1\n2\n3\n4\n5\n' } });
  await openChange(world.github, { list: 'one\n2\n3\n4\n5\n' });
  await world.github.push({
    repo: REPO,
    branch: 'main',
    author: 'maya',
    files: { list: '1\n2\n3\n4\nfive\n' },
  });
  await merge(world);
  expect(world.github.fileAt(REPO, 'main', 'list')).toBe('one\n2\n3\n4\nfive\n');
});

it('a merged pull request still shows its files', async () => {
  const world = await startWorld();
  await openChange(world.github);
  await merge(world, undefined, 'merge');
  const { data } = await world.octokit.pulls.listFiles({ ...AT, pull_number: 1 });
  expect(data.map(({ filename }) => filename)).toEqual(['NEW.md']);
});

it.each<[string, number, (world: World) => Promise<unknown>]>([
  [
    'a head that moved',
    409,
    ({ github }) => github.push({ repo: REPO, branch: 'topic', author: 'eve', files: { y: '' } }),
  ],
  ['a draft', 405, ({ github }) => github.convertToDraft(REPO, 1, 'eve')],
  ['a closed pull request', 405, ({ github }) => github.closePullRequest(REPO, 1, 'eve')],
  ['a merged pull request', 405, ({ github }) => github.mergePullRequest(REPO, 1, 'maya')],
  [
    'a conflict',
    405,
    ({ github }) =>
      github.push({ repo: REPO, branch: 'main', author: 'maya', files: { 'NEW.md': 'other\n' } }),
  ],
  [
    'a required check that nobody reported',
    405,
    async ({ github }) => github.requireChecks(REPO, 'main', ['build']),
  ],
])('the merge of %s is refused with %i', async (_, status, before) => {
  const world = await startWorld();
  const { headSha } = await openChange(world.github);
  await before(world);
  await expect(merge(world, headSha)).rejects.toMatchObject({ status });
});

it.each([
  ['success', 'clean'],
  ['skipped', 'clean'],
  ['failure', 'blocked'],
] as const)('a required check that ended in %s leaves the pull request %s', async (conclusion, state) => {
  const { github, octokit } = await startWorld();
  const { headSha } = await openChange(github);
  github.requireChecks(REPO, 'main', ['build']);
  await github.reportCheck(REPO, headSha, { name: 'build', status: 'completed', conclusion });
  const { data } = await octokit.pulls.get({ ...AT, pull_number: 1 });
  expect(data.mergeable_state).toBe(state);
});

it('a method that the repository does not allow is refused', async () => {
  const world = await startWorld();
  world.github.addRepository({ owner: 'acme', name: 'strict', files: {}, mergeMethods: ['rebase'] });
  await world.github.openPullRequest({
    repo: 'acme/strict',
    author: 'eve',
    branch: 't',
    title: 'T',
    files: { x: '' },
  });
  const call = world.octokit.pulls.merge({
    owner: 'acme',
    repo: 'strict',
    pull_number: 1,
    merge_method: 'squash',
  });
  await expect(call).rejects.toMatchObject({ status: 405 });
});

it('pushing the head to the base by hand merges the pull request', async () => {
  const { github } = await startWorld();
  const { headSha } = await openChange(github);
  await github.push({ repo: REPO, branch: 'main', author: 'maya', forceTo: headSha });
  expect(github.pullRequest(REPO, 1)).toMatchObject({ state: 'closed', merged: true, mergedBy: 'maya' });
});
