import { expect, it } from 'vitest';
import { openChange, REPO, startReceiver, startWorld, type World } from './support.ts';

// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
// and https://docs.github.com/en/graphql/reference/mutations#enablepullrequestautomerge; its refusals:
// https://github.com/peter-evans/enable-pull-request-automerge#conditions

interface Waiting extends World {
  headSha: string;
  green: () => Promise<number>;
}

/** A pull request that waits for a required check. */
async function startWaiting(options: { fork?: string } = {}): Promise<Waiting> {
  const world = await startWorld();
  const { github } = world;
  github.allowAutoMerge(REPO);
  github.requireChecks(REPO, 'main', ['build']);
  const { headSha } = options.fork
    ? await github.openPullRequest({
        repo: REPO,
        author: 'eve',
        branch: 'topic',
        title: 'Change it',
        files: { 'NEW.md': 'new\n' },
        fork: options.fork,
      })
    : await openChange(github);
  const green = () =>
    github.reportCheck(REPO, headSha, { name: 'build', status: 'completed', conclusion: 'success' });
  return { ...world, headSha, green };
}

it('a pull request with auto-merge is merged once its required check is green, by whoever enabled it', async () => {
  const { github, octokit, green } = await startWaiting();
  await github.enableAutoMerge(REPO, 1, 'walt', 'squash');
  const { data } = await octokit.pulls.get({ owner: 'acme', repo: 'shop', pull_number: 1 });
  expect(data.auto_merge).toMatchObject({ enabled_by: { login: 'walt' }, merge_method: 'squash' });
  expect(github.pullRequest(REPO, 1).merged).toBe(false);
  const received = await startReceiver(github);
  await green();
  expect(github.pullRequest(REPO, 1)).toMatchObject({
    merged: true,
    mergedBy: 'walt',
    mergeMethod: 'squash',
  });
  const closed = received.map(({ body }) => JSON.parse(body)).find(({ action }) => action === 'closed');
  expect(closed).toMatchObject({ pull_request: { merged: true, merged_by: { login: 'walt' } } });
});

it('a check that the app itself reports also triggers the merge', async () => {
  const { github, octokit, headSha } = await startWaiting();
  await github.enableAutoMerge(REPO, 1, 'walt');
  await octokit.checks.create({
    owner: 'acme',
    repo: 'shop',
    name: 'build',
    head_sha: headSha,
    conclusion: 'success',
  });
  expect(github.pullRequest(REPO, 1).mergedBy).toBe('walt');
});

it('a draft waits until it is ready, and a push makes the checks start again', async () => {
  const { github, green } = await startWaiting();
  await github.enableAutoMerge(REPO, 1, 'walt');
  await github.convertToDraft(REPO, 1, 'eve');
  await green();
  expect(github.pullRequest(REPO, 1).merged).toBe(false);
  await github.push({ repo: REPO, branch: 'topic', author: 'walt', files: { y: '' } });
  await github.readyForReview(REPO, 1, 'eve');
  expect(github.pullRequest(REPO, 1).merged).toBe(false);
});

it.each<[string, (world: Waiting) => Promise<unknown>, boolean]>([
  [
    'a push of somebody who cannot write',
    ({ github }) => github.push({ repo: 'eve/shop', branch: 'topic', author: 'eve', files: { y: '' } }),
    true,
  ],
  [
    'a push of a writer',
    ({ github }) => github.push({ repo: 'eve/shop', branch: 'topic', author: 'walt', files: { y: '' } }),
    false,
  ],
  [
    'another base, set by somebody who cannot write',
    async ({ github }) => {
      await github.push({ repo: REPO, branch: 'release', author: 'maya' });
      await github.editPullRequest(REPO, 1, 'eve', { base: 'release' });
    },
    true,
  ],
])('%s disables auto-merge: %s', async (_, change, disables) => {
  const world = await startWaiting({ fork: 'eve/shop' });
  await world.github.enableAutoMerge(REPO, 1, 'walt');
  const received = await startReceiver(world.github);
  await change(world);
  const actions = received.map(({ body }) => JSON.parse(body).action);
  expect(actions.includes('auto_merge_disabled')).toBe(disables);
  expect(world.github.pullRequest(REPO, 1).merged).toBe(false);
});

it('auto-merge that somebody disabled merges nothing', async () => {
  const { github, green } = await startWaiting();
  await github.enableAutoMerge(REPO, 1, 'walt');
  await github.disableAutoMerge(REPO, 1, 'maya');
  await green();
  expect(github.pullRequest(REPO, 1).merged).toBe(false);
});

it.each<[string, string, (world: Waiting) => unknown, string]>([
  ['somebody who cannot write', 'eve', () => {}, 'does not have the correct permissions'],
  ['a writer when nothing is missing', 'walt', ({ green }) => green(), 'Pull request is in clean status'],
])('%s cannot enable auto-merge', async (_, login, before, sentence) => {
  const world = await startWaiting();
  await before(world);
  await expect(world.github.enableAutoMerge(REPO, 1, login)).rejects.toThrow(sentence);
});

it('nobody can enable auto-merge if the repository does not allow it', async () => {
  const { github } = await startWorld();
  await openChange(github);
  await expect(github.enableAutoMerge(REPO, 1, 'maya')).rejects.toThrow(
    'Auto merge is not allowed for this repository',
  );
});
