import { expect, it } from 'vitest';
import { AT, openChange, REPO, startWorld } from './support.ts';

it('a refused merge request is recorded with the state at that moment, and with what the API reported before', async () => {
  const { github, octokit } = await startWorld();
  const { number, headSha } = await openChange(github);
  const comment = await github.comment(REPO, number, 'maya', 'Merge this?');
  await github.react(REPO, comment, 'walt', 'rocket');
  await github.editComment(REPO, comment, 'walt', 'Merge that?');
  await octokit.pulls.get({ ...AT, pull_number: number });
  const moved = await github.push({ repo: REPO, branch: 'topic', author: 'walt', files: { a: 'a\n' } });
  await expect(octokit.pulls.merge({ ...AT, pull_number: number, sha: headSha })).rejects.toThrow();
  expect(github.mergeRequests).toMatchObject([
    {
      number,
      sha: headSha,
      pullRequest: { state: 'open', headSha: moved },
      lastReported: { state: 'open', headSha },
      comments: [
        {
          author: { login: 'maya' },
          lastWriter: { login: 'walt' },
          body: 'Merge that?',
          reactions: [{ by: { login: 'walt', type: 'User' }, content: 'rocket' }],
        },
      ],
      roles: { maya: 'maintain', walt: 'write' },
      refused: 'Head branch was modified. Review and try the merge again.',
    },
  ]);
});

it('a merge request that was carried out has no refusal, and shows the pull request as it was before', async () => {
  const { github, octokit } = await startWorld();
  const { number, headSha } = await openChange(github);
  await octokit.pulls.merge({ ...AT, pull_number: number });
  const [request] = github.mergeRequests;
  expect(request).toMatchObject({ pullRequest: { state: 'open', headSha }, sha: undefined });
  expect(request?.refused).toBeUndefined();
});

it.each(['button', 'auto-merge'] as const)(
  'a merge that %s caused is recorded with the state at that moment',
  async (via) => {
    const { github } = await startWorld();
    const { headSha } = await openChange(github);
    github.allowAutoMerge(REPO);
    github.requireChecks(REPO, 'main', ['build']);
    if (via === 'auto-merge') await github.enableAutoMerge(REPO, 1, 'walt');
    const green = { name: 'build', status: 'completed', conclusion: 'success' } as const;
    await github.reportCheck(REPO, headSha, green);
    if (via === 'button') await github.pressMergeButton(REPO, 1, 'walt');
    expect(github.merges).toMatchObject([
      {
        via,
        by: 'walt',
        headSha,
        pullRequest: { state: 'open', headSha, baseRef: 'main' },
        checks: [{ app: 'ci', name: 'build', result: 'success' }],
        roles: { walt: 'write' },
      },
    ]);
  },
);
