import { expect, it } from 'vitest';
import { AT, openChange, REPO, startWorld } from './support.ts';

it('the activity of a branch names who pushed, newest first', async () => {
  const { github, octokit } = await startWorld();
  const { headSha } = await openChange(github);
  const pushed = await github.push({
    repo: REPO,
    branch: 'topic',
    author: 'eve',
    pusher: 'maya',
    files: { x: 'x' },
  });
  await github.push({ repo: REPO, branch: 'other', author: 'eve', files: { y: 'y' } });
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/activity', {
    ...AT,
    ref: 'refs/heads/topic',
  });
  expect(data.map(({ before, after, activity_type }) => ({ before, after, activity_type }))).toEqual([
    { before: headSha, after: pushed, activity_type: 'push' },
    { before: '0'.repeat(40), after: headSha, activity_type: 'branch_creation' },
  ]);
  expect(data[0]?.actor).toMatchObject({ login: 'maya', type: 'User' });
});

it('webhooks of a push have the person who pushed as their sender, whoever wrote the commits', async () => {
  const { github } = await startWorld();
  // No receiver needs to answer there for it to be sent.
  github.setWebhookUrl('http://127.0.0.1:9/');
  await openChange(github);
  const before = github.deliveries.length;
  await github.push({ repo: REPO, branch: 'topic', author: 'eve', pusher: 'maya', files: { x: 'x' } });
  const told = github.deliveries
    .slice(before)
    .filter(({ event, action }) => event === 'push' || action === 'synchronize');
  expect(told.map(({ event }) => event)).toEqual(['push', 'pull_request']);
  for (const { payload } of told) expect(payload).toMatchObject({ sender: { login: 'maya' } });
});
