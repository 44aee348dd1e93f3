import { expect, it } from 'vitest';
import { diffLinesOf } from '../support/github/rules/diff-lines.ts';
import { AT, openChange, REPO, startWorld } from './support.ts';

async function startReviewed() {
  const world = await startWorld({ files: { list: '1\n2\n3\n4\n5\n6\n7\n8\n9\n' } });
  await openChange(world.github, { list: '1\n2\n3\n4\nfive\n6\n7\n8\n9\n' });
  const review = (...comments: { path: string; line: number; body: string; side?: string }[]) =>
    world.octokit.pulls.createReview({ ...AT, pull_number: 1, event: 'COMMENT', body: 'Seen', comments });
  return { ...world, review };
}

it('a hunk shows lines on both sides, also without its counts', () => {
  expect(diffLinesOf('@@ -7 +7,2 @@\n-a\n+b\n+c\n\\ No newline at end of file')).toEqual({
    LEFT: new Set([7]),
    RIGHT: new Set([7, 8]),
  });
});

it('the comments of a review are on the lines that they name', async () => {
  const { github, review } = await startReviewed();
  await review(
    { path: 'list', line: 5, body: 'Why?' },
    { path: 'list', line: 5, side: 'LEFT', body: 'It was' },
  );
  expect(github.reviews(REPO, 1)).toMatchObject([
    {
      author: github.app.botLogin,
      state: 'COMMENTED',
      comments: [
        { path: 'list', line: 5, side: 'RIGHT' },
        { path: 'list', line: 5, side: 'LEFT' },
      ],
    },
  ]);
});

it.each([
  ['a line outside of the diff', { path: 'list', line: 9, body: 'x' }],
  ['a file outside of the diff', { path: 'other', line: 1, body: 'x' }],
])('one comment on %s makes GitHub refuse the whole review', async (_, outside) => {
  const { github, review } = await startReviewed();
  const call = review({ path: 'list', line: 5, body: 'fine' }, outside);
  await expect(call).rejects.toMatchObject({ status: 422 });
  expect(github.reviews(REPO, 1)).toEqual([]);
});

it("a person's review is listed with the head that it was made on", async () => {
  const { github, octokit } = await startReviewed();
  await github.review(REPO, 1, 'maya', 'APPROVED', 'Good');
  const { data } = await octokit.pulls.listReviews({ ...AT, pull_number: 1 });
  expect(data).toMatchObject([
    { state: 'APPROVED', user: { login: 'maya' }, commit_id: github.pullRequest(REPO, 1).headSha },
  ]);
});

async function startRequesting() {
  const world = await startReviewed();
  world.github.addTeam('acme', 'core', ['maya']);
  world.github.addTeam('acme', 'elsewhere', ['maya'], { outside: true });
  const request = (reviewers: string[], team_reviewers: string[] = []) =>
    world.octokit.pulls.requestReviewers({ ...AT, pull_number: 1, reviewers, team_reviewers });
  return { ...world, request };
}

// https://docs.github.com/en/rest/pulls/review-requests#get-all-requested-reviewers-for-a-pull-request
it('a review request lasts until the person submits a review', async () => {
  const { github, octokit, request } = await startRequesting();
  await request(['maya', 'walt'], ['core']);
  await request(['walt']);
  expect(github.requestedReviewers(REPO, 1)).toEqual({ people: ['maya', 'walt'], teams: ['core'] });
  await github.review(REPO, 1, 'maya', 'COMMENTED', 'Seen');
  const { data } = await octokit.pulls.listRequestedReviewers({ ...AT, pull_number: 1 });
  expect([data.users.map(({ login }) => login), data.teams.map(({ slug }) => slug)]).toEqual([
    ['walt'],
    ['core'],
  ]);
});

it.each([
  ['the author', ['eve', 'walt'], []],
  ['somebody who is no collaborator', ['walt', 'newcomer'], []],
  ['a team without access to the repository', ['walt'], ['elsewhere']],
])('a review request that names %s is refused with 422 as a whole', async (_, reviewers, teams) => {
  const { github, request } = await startRequesting();
  await expect(request(reviewers, teams)).rejects.toMatchObject({ status: 422 });
  expect(github.requestedReviewers(REPO, 1)).toEqual({ people: [], teams: [] });
});
