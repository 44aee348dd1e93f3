import { expect, it } from 'vitest';
import { AT, openChange, REPO, startWorld } from './support.ts';

it('a pull request shows what it changes', async () => {
  const { github, octokit } = await startWorld();
  const { number, headSha } = await openChange(github, {
    'src/cart.ts': 'export const items = [1];\n',
    N: 'n',
  });
  const { data } = await octokit.pulls.get({ ...AT, pull_number: number });
  expect(data).toMatchObject({
    head: { sha: headSha, ref: 'topic', label: 'acme:topic' },
    base: { ref: 'main' },
    mergeable: true,
    mergeable_state: 'clean',
    changed_files: 2,
    additions: 2,
    deletions: 1,
    commits: 1,
    author_association: 'FIRST_TIME_CONTRIBUTOR',
  });
});

it('its files are counted from where it diverged from its base, whatever the base became', async () => {
  const { github, octokit } = await startWorld();
  const { number } = await openChange(github);
  await github.push({ repo: REPO, branch: 'main', author: 'maya', files: { 'OTHER.md': 'other\n' } });
  const { data } = await octokit.pulls.listFiles({ ...AT, pull_number: number });
  expect(data.map(({ filename, patch }) => [filename, patch])).toEqual([['NEW.md', '@@ -0,0 +1 @@\n+new']]);
});

it('a push to the head moves it', async () => {
  const { github } = await startWorld();
  const { number, headSha } = await openChange(github);
  const pushed = await github.push({ repo: REPO, branch: 'topic', author: 'eve', files: { x: 'x' } });
  expect(pushed).not.toBe(headSha);
  expect(github.pullRequest(REPO, number).headSha).toBe(pushed);
});

it('a force-push can restore an older commit', async () => {
  const { github } = await startWorld();
  const { number, headSha } = await openChange(github);
  await github.push({ repo: REPO, branch: 'topic', author: 'eve', files: { x: 'x' } });
  await github.push({ repo: REPO, branch: 'topic', author: 'eve', forceTo: headSha });
  expect(github.pullRequest(REPO, number).headSha).toBe(headSha);
});

it('a pull request from a fork has its head in the fork, readable by its commit here', async () => {
  const { github, octokit } = await startWorld();
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'eve',
    branch: 'topic',
    title: 'From outside',
    files: { 'NEW.md': 'new\n' },
    fork: 'eve/shop',
  });
  const { data } = await octokit.pulls.get({ ...AT, pull_number: number });
  expect(data.head.repo.full_name).toBe('eve/shop');
  const file = await octokit.repos.getContent({ ...AT, path: 'NEW.md', ref: headSha });
  expect(file.data).toMatchObject({ type: 'file', size: 4 });
});

it('commits name their authors, committers and co-authors', async () => {
  const { github, octokit } = await startWorld();
  const { number } = await github.openPullRequest({
    repo: REPO,
    author: 'eve',
    committer: 'carl',
    coAuthors: ['maya', 'Zed <zed@example.com>'],
    branch: 'topic',
    title: 'Change it',
    files: { x: 'x' },
  });
  const { data } = await octokit.pulls.listCommits({ ...AT, pull_number: number });
  expect(data[0]).toMatchObject({ author: { login: 'eve' }, committer: { login: 'carl' } });
  expect(data[0]?.commit.message).toMatch(
    /^Change it\n\nCo-authored-by: maya <\d+\+maya@users.noreply.github.com>\nCo-authored-by: Zed <zed@example.com>$/,
  );
});

it('two changes of one line cannot be merged', async () => {
  const { github, octokit } = await startWorld();
  const { number } = await openChange(github, { 'README.md': '# Their shop\n' });
  await github.push({ repo: REPO, branch: 'main', author: 'maya', files: { 'README.md': '# Our shop\n' } });
  const { data } = await octokit.pulls.get({ ...AT, pull_number: number });
  expect(data).toMatchObject({ mergeable: false, mergeable_state: 'dirty' });
});

it('lazy mergeability is unknown on the first read after a change', async () => {
  const { github, octokit } = await startWorld({ mergeability: 'lazy' });
  const { number } = await openChange(github);
  const read = async () => (await octokit.pulls.get({ ...AT, pull_number: number })).data.mergeable;
  expect([await read(), await read()]).toEqual([null, true]);
});

it('the list is filtered by state, base and head', async () => {
  const { github, octokit } = await startWorld();
  await openChange(github);
  await github.openPullRequest({ repo: REPO, author: 'eve', branch: 'b', title: 'B', files: { b: 'b' } });
  await github.closePullRequest(REPO, 1, 'eve');
  const numbers = async (filter: object) =>
    (await octokit.pulls.list({ ...AT, ...filter })).data.map(({ number }) => number);
  expect(await numbers({})).toEqual([2]);
  expect(await numbers({ state: 'all' })).toEqual([2, 1]);
  expect(await numbers({ state: 'all', head: 'acme:topic' })).toEqual([1]);
  expect(await numbers({ base: 'other' })).toEqual([]);
});

it('the diff media type gives the whole change as text', async () => {
  const { github, octokit } = await startWorld();
  const { number } = await openChange(github);
  const { data } = await octokit.pulls.get({ ...AT, pull_number: number, mediaType: { format: 'diff' } });
  expect(data).toBe(
    'diff --git a/NEW.md b/NEW.md\nnew file mode 100644\n--- /dev/null\n+++ b/NEW.md\n@@ -0,0 +1 @@\n+new\n',
  );
});
