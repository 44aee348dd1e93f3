import { expect, it } from 'vitest';
import { AT, openChange, REPO, startWorld } from './support.ts';

it('a file is in base64, a folder is a list', async () => {
  const { octokit } = await startWorld();
  const file = await octokit.repos.getContent({ ...AT, path: 'README.md' });
  expect(file.data).toMatchObject({ type: 'file', encoding: 'base64', content: `${btoa('# Shop\n')}\n` });
  const folder = await octokit.repos.getContent({ ...AT, path: 'src' });
  expect(folder.data).toMatchObject([{ type: 'file', path: 'src/cart.ts' }]);
});

it('a file is read as it was at the ref', async () => {
  const { github, octokit } = await startWorld();
  await openChange(github);
  const read = (ref: string) => octokit.repos.getContent({ ...AT, path: 'NEW.md', ref });
  expect((await read('topic')).status).toBe(200);
  await expect(read('main')).rejects.toMatchObject({ status: 404 });
});

it('the history of a path has the commits that changed it or what is below it', async () => {
  const { github, octokit } = await startWorld();
  const { headSha } = await openChange(github);
  const of = async (path: string, sha: string) =>
    (await octokit.repos.listCommits({ ...AT, path, sha })).data.map((commit) => commit.sha === headSha);
  expect(await of('NEW.md', headSha)).toEqual([true]);
  expect(await of('NEW.md', 'main')).toEqual([]);
  expect(await of('src', headSha)).toEqual([false]);
});

it('a file above 1 MB has no content, which the blob still has', async () => {
  const big = 'x'.repeat(1024 * 1024 + 1);
  const { octokit } = await startWorld({ files: { big } });
  const { data } = await octokit.repos.getContent({ ...AT, path: 'big' });
  expect(data).toMatchObject({ content: '', encoding: 'none', size: big.length });
  const sha = 'sha' in data ? data.sha : '';
  const blob = await octokit.git.getBlob({ ...AT, file_sha: sha });
  expect(atob(blob.data.content)).toBe(big);
});

it('a recursive tree is listed completely', async () => {
  const { octokit } = await startWorld();
  const { data } = await octokit.git.getTree({ ...AT, tree_sha: 'main', recursive: '1' });
  expect(data.tree.map(({ path, type }) => `${type} ${path}`)).toEqual([
    'blob README.md',
    'tree src',
    'blob src/cart.ts',
  ]);
});

it('branches with slashes are found everywhere', async () => {
  const { github, octokit } = await startWorld();
  const sha = await github.push({ repo: REPO, branch: 'a/b', author: 'maya', files: { x: 'x' } });
  expect((await octokit.git.getRef({ ...AT, ref: 'heads/a/b' })).data.object.sha).toBe(sha);
  expect((await octokit.repos.getBranch({ ...AT, branch: 'a/b' })).data.commit.sha).toBe(sha);
  expect((await octokit.repos.getCommit({ ...AT, ref: 'a/b' })).data.files?.[0]?.filename).toBe('x');
  expect(
    (await octokit.repos.compareCommitsWithBasehead({ ...AT, basehead: 'main...a/b' })).data,
  ).toMatchObject({
    status: 'ahead',
    ahead_by: 1,
    files: [{ filename: 'x' }],
  });
});

// https://github.com/scripting/Scripting-News/issues/94
it('HEAD is the default branch wherever a ref is accepted', async () => {
  const { github, octokit } = await startWorld();
  await github.push({ repo: REPO, branch: 'a/b', author: 'maya', files: { x: 'x' } });
  const main = github.branch(REPO, 'main');
  expect((await octokit.repos.getCommit({ ...AT, ref: 'HEAD' })).data.sha).toBe(main);
  expect((await octokit.repos.listCommits({ ...AT, sha: 'HEAD' })).data[0]?.sha).toBe(main);
  expect((await octokit.git.getTree({ ...AT, tree_sha: 'HEAD' })).data.tree.length).toBe(2);
  expect((await octokit.repos.getContent({ ...AT, path: 'README.md', ref: 'HEAD' })).status).toBe(200);
  const basehead = 'HEAD...a/b';
  expect((await octokit.repos.compareCommitsWithBasehead({ ...AT, basehead })).data.ahead_by).toBe(1);
});

it('HEAD is not a branch', async () => {
  const { octokit } = await startWorld();
  await expect(octokit.repos.getBranch({ ...AT, branch: 'HEAD' })).rejects.toMatchObject({ status: 404 });
  await expect(octokit.git.getRef({ ...AT, ref: 'heads/HEAD' })).rejects.toMatchObject({ status: 404 });
});

it('a protected branch names its required checks', async () => {
  const { github, octokit } = await startWorld();
  github.requireChecks(REPO, 'main', ['build']);
  const { data } = await octokit.repos.getBranch({ ...AT, branch: 'main' });
  expect(data).toMatchObject({
    protected: true,
    protection: { required_status_checks: { contexts: ['build'] } },
  });
});

it('a renamed repository is found under its old name, a deleted one is not', async () => {
  const { github, octokit } = await startWorld();
  await github.renameRepository(REPO, 'store');
  expect((await octokit.repos.get(AT)).data.full_name).toBe('acme/store');
  await github.deleteRepository('acme/store');
  await expect(octokit.repos.get(AT)).rejects.toMatchObject({ status: 404 });
});
