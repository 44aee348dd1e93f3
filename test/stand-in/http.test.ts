import { expect, it } from 'vitest';
import { AT, clientOf, openChange, REPO, startWorld } from './support.ts';

it('an unchanged answer is 304 and costs nothing of the limit', async () => {
  const { octokit } = await startWorld();
  const first = await octokit.repos.get(AT);
  const again = octokit.repos.get({ ...AT, headers: { 'if-none-match': first.headers.etag ?? '' } });
  await expect(again).rejects.toMatchObject({
    status: 304,
    response: { headers: { 'x-ratelimit-remaining': first.headers['x-ratelimit-remaining'] } },
  });
});

it('a changed answer has another tag', async () => {
  const { github, octokit } = await startWorld();
  await openChange(github);
  const read = async () => (await octokit.pulls.get({ ...AT, pull_number: 1 })).headers.etag;
  const before = await read();
  await github.editPullRequest(REPO, 1, 'eve', { title: 'Another' });
  expect(await read()).not.toBe(before);
});

// https://github.com/eclipse-csi/otterdog/issues/201, https://github.com/github/docs/issues/34689
it('another token has other tags for the same answer', async () => {
  const { github, installation, octokit } = await startWorld();
  const first = await octokit.repos.get(AT);
  github.revokeTokens();
  const again = clientOf(github, installation);
  const headers = { 'if-none-match': String(first.headers.etag) };
  expect((await again.repos.get({ ...AT, headers })).status).toBe(200);
});

it('lists have pages, with links to the other pages', async () => {
  const { github, octokit } = await startWorld();
  await openChange(github);
  for (let i = 0; i < 5; i++) await github.comment(REPO, 1, 'eve', `${i}`);
  const all = await octokit.paginate(octokit.issues.listComments, { ...AT, issue_number: 1, per_page: 2 });
  expect(all.map(({ body }) => body)).toEqual(['0', '1', '2', '3', '4']);
});

it('requests above the limit are refused until the hour is over', async () => {
  let now = new Date('2030-01-01T00:00:00Z');
  const { octokit } = await startWorld({ rateLimit: 2, now: () => now });
  await octokit.repos.get(AT);
  await octokit.repos.get(AT);
  await expect(octokit.repos.get(AT)).rejects.toMatchObject({ status: 403 });
  now = new Date('2030-01-01T01:00:00Z');
  expect((await octokit.repos.get(AT)).status).toBe(200);
});

it('a fault answers instead, as often as requested', async () => {
  const { github, octokit } = await startWorld();
  github.fail(({ path }) => path === `/repos/${REPO}`, { status: 502, headers: { 'retry-after': '7' } }, 1);
  await expect(octokit.repos.get(AT)).rejects.toMatchObject({
    status: 502,
    response: { headers: { 'retry-after': '7' } },
  });
  expect((await octokit.repos.get(AT)).status).toBe(200);
});

it('a fault can be removed', async () => {
  const { github, octokit } = await startWorld();
  github.fail(() => true, { status: 500 })();
  expect((await octokit.repos.get(AT)).status).toBe(200);
});

it('a write whose answer is lost is still carried out', async () => {
  const { github, octokit } = await startWorld();
  await openChange(github);
  github.fail(({ method, path }) => method === 'POST' && path.endsWith('/comments'), { after: 'reset' }, 1);
  await expect(octokit.issues.createComment({ ...AT, issue_number: 1, body: 'x' })).rejects.toThrow();
  expect(github.comments(REPO, 1)).toHaveLength(1);
});

it('a write whose connection is cut first is not carried out', async () => {
  const { github, octokit } = await startWorld();
  await openChange(github);
  github.fail(({ method, path }) => method === 'POST' && path.endsWith('/comments'), 'reset', 1);
  await expect(octokit.issues.createComment({ ...AT, issue_number: 1, body: 'x' })).rejects.toThrow();
  expect(github.comments(REPO, 1)).toHaveLength(0);
});

it('a request that hangs does not keep the stand-in from stopping', async () => {
  const { github } = await startWorld();
  github.fail(() => true, 'hang');
  const hanging = fetch(`${github.url}/app`);
  await expect.poll(() => github.requests.length).toBe(1);
  await github.stop();
  await expect(hanging).rejects.toThrow();
});

it('every request is recorded, and passed to listeners with both bodies', async () => {
  const { github, octokit, installation } = await startWorld({ now: () => new Date(5_000) });
  await openChange(github);
  const seen: unknown[] = [];
  github.onRequest(({ method, path, body, status }) => seen.push({ method, path, body, status }));
  await octokit.issues.createComment({ ...AT, issue_number: 1, body: 'x' });
  const path = `/repos/${REPO}/issues/1/comments`;
  expect(seen).toContainEqual({ method: 'POST', path, body: { body: 'x' }, status: 201 });
  expect(github.requests.at(-1)).toEqual({ method: 'POST', path, status: 201, at: 5_000, installation });
});
