import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOctokitGitHub } from '../../../src/adapters/octokit/octokit-github.ts';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { CommentFacts, GitHubReader } from '../../../src/ports/github.ts';
import { type GitHubStandIn, startGitHub } from '../../support/github/stand-in.ts';

const REPO = { owner: 'acme', name: 'shop' };
const NAME = 'acme/shop';

let standIn: GitHubStandIn;
let rest: GitHubReader;
let number: number;
let headSha: string;
/** Changes what a query answers. */
let alter: (data: QueryData) => void;
/** What a query reports beside its data; its own errors if there are none. */
let errors: object[];

beforeEach(async () => {
  alter = () => undefined;
  errors = [];
  standIn = await startGitHub();
  standIn.addOrganization('acme');
  for (const login of ['ada', 'mona', 'otto']) standIn.addUser(login);
  standIn.addRepository({
    owner: 'acme',
    name: 'shop',
    files: { 'README.md': 'hello\n' },
    collaborators: { ada: 'write', mona: 'maintain' },
  });
  const installation = standIn.installApp('acme');
  const { id: appId, privateKey } = standIn.app;
  rest = createOctokitGitHub({
    source: octokitsWithKey({ appId, privateKey, apiUrl: standIn.url }),
    log: silentLog,
    clock: systemClock,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      if (!String(input).endsWith('/graphql')) return answer;
      const { data, ...rest } = (await answer.json()) as QueryData;
      alter(data ?? {});
      return Response.json(
        { data, ...rest, ...(errors.length > 0 && { errors }) },
        { status: answer.status, headers: { 'x-github-media-type': 'json' } },
      );
    },
  }).reader(installation);
  const change = {
    author: 'ada',
    title: 'Fix the cart',
    branch: 'fix/cart',
    files: { 'a.ts': 'export {};\n' },
  };
  ({ number, headSha } = await standIn.openPullRequest({ repo: NAME, ...change }));
});

afterEach(() => standIn.stop());

/** The comment of otto with mona's reaction. */
async function commented(): Promise<CommentFacts> {
  const id = await standIn.comment(NAME, number, 'otto', 'Approve this merge?');
  await standIn.react(NAME, id, 'mona', 'rocket');
  const comment = await rest.comment(REPO, id);
  if (!comment) throw new Error('the comment is not there');
  return comment;
}

/** What all methods answer that a query can answer. */
async function everything(reader: GitHubReader, commentId: number) {
  const found = await reader.checkRuns(REPO, headSha);
  // A query counts no annotations, and has the suites in their own order.
  const checkRuns = found.map((run) => ({ ...run, annotations: 0 })).sort((a, b) => a.id - b.id);
  return {
    checkRuns,
    reviews: await reader.pullRequestReviews(REPO, number),
    commits: await reader.pullRequestCommits(REPO, number),
    // GraphQL does not show the ids of statuses.
    statuses: (await reader.statuses(REPO, headSha)).map(({ id: _, ...status }) => status),
    suites: await reader.checkSuites(REPO, headSha, checkRuns[0]?.appId ?? 0),
    reactions: await reader.reactions(REPO, commentId),
    tip: await reader.branchTip(REPO, 'main'),
    organisation: await reader.repository({ owner: 'acme', name: '.github' }).catch((error) => error.kind),
  };
}

test('a query shows a pull request, its head and a comment as REST does, in one request', async () => {
  await standIn.review(NAME, number, 'mona', 'CHANGES_REQUESTED');
  await standIn.review(NAME, number, 'mona', 'APPROVED');
  await standIn.reportCheck(NAME, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await standIn.reportCheck(NAME, headSha, { name: 'lint', status: 'in_progress' });
  await standIn.setStatus(NAME, headSha, { context: 'deploy', state: 'pending' });
  const comment = await commented();
  const byRest = await everything(rest, comment.id);
  const pullRequest = await rest.pullRequest(REPO, number);

  const before = standIn.requests.length;
  const found = await rest.prefetched(REPO, number, { headSha, commentNodeId: comment.nodeId ?? '' });
  const known = found.over(rest);
  expect(await everything(known, comment.id)).toEqual(byRest);
  expect(found.pullRequest).toEqual(pullRequest);
  expect(await known.comment(REPO, comment.id)).toMatchObject({ body: comment.body, author: comment.author });
  expect(standIn.requests.slice(before).map(({ path }) => path)).toEqual(['/graphql']);
});

/** The paths that are asked for what the query did not show. */
async function askedAfter(act: () => unknown): Promise<string[]> {
  const comment = await commented();
  await act();
  const found = await rest.prefetched(REPO, number, { headSha, commentNodeId: comment.nodeId ?? '' });
  const before = standIn.requests.length;
  await everything(found.over(rest), comment.id);
  return standIn.requests
    .slice(before)
    .map(({ path }) => path.replace(/\?.*/, '').replace(/\/[0-9a-f]{40}\//, '/HEAD/'));
}

const check = (name: string, status: 'completed' | 'queued' = 'completed') =>
  standIn.reportCheck(NAME, headSha, { name, status, conclusion: 'success' });

test('two check runs of one name in one suite are read from REST, which says which of them counts', async () => {
  expect(
    await askedAfter(async () => {
      await check('test');
      await check('test', 'queued');
    }),
  ).toEqual(['/repos/acme/shop/commits/HEAD/check-runs']);
});

test('lists with more than a page are read from REST', async () => {
  const asked = await askedAfter(async () => {
    for (let index = 0; index < 51; index++) await check(`test-${index}`);
    for (let index = 0; index < 101; index++) await standIn.review(NAME, number, 'otto', 'COMMENTED');
  });
  expect([...new Set(asked)]).toEqual([
    '/repos/acme/shop/commits/HEAD/check-runs',
    `/repos/acme/shop/pulls/${number}/reviews`,
    '/repos/acme/shop/commits/HEAD/statuses',
    '/repos/acme/shop/commits/HEAD/check-suites',
  ]);
});

test.each([
  ['fails', { status: 502 }],
  [
    'has an error beside its data',
    {
      status: 200,
      body: { data: {}, errors: [{ type: 'FORBIDDEN', path: ['repository', 'object', 'status'] }] },
    },
  ],
  ['is not as documented', { status: 200, body: { data: { repository: {} } } }],
])('everything is read from REST if the query %s', async (_, answer) => {
  const asked = await askedAfter(() => {
    standIn.fail(({ path }) => path === '/graphql', answer, 1);
  });
  expect(asked).toHaveLength(8);
});

test('commits of a bot, which GraphQL does not name, are read from REST', async () => {
  standIn.addUser('renovate[bot]', { type: 'Bot' });
  const asked = await askedAfter(async () => {
    const files = { 'b.ts': 'export {};\n' };
    headSha = await standIn.push({ repo: NAME, branch: 'fix/cart', author: 'renovate[bot]', files });
  });
  expect(asked).toEqual([`/repos/acme/shop/pulls/${number}/commits`]);
});

test('a comment of another repository is not the one that REST is asked for', async () => {
  standIn.addRepository({ owner: 'acme', name: 'old', files: { 'README.md': 'hello\n' } });
  const moved = await standIn.openPullRequest({
    repo: 'acme/old',
    author: 'ada',
    title: 'Fix the cart',
    branch: 'fix/cart',
    files: { 'a.ts': 'export {};\n' },
  });
  const id = await standIn.comment('acme/old', moved.number, 'otto', 'Approve this merge?');
  const nodeId = (await rest.comment({ owner: 'acme', name: 'old' }, id))?.nodeId ?? '';
  const found = await rest.prefetched(REPO, number, { headSha, commentNodeId: nodeId });
  expect(await found.over(rest).comment(REPO, id)).toBeUndefined();
});

// biome-ignore lint/suspicious/noExplicitAny: what GitHub could answer, in whichever form
type QueryData = any;

test.each<[string, number, (data: QueryData) => void]>([
  [
    'everything is read from REST if the query does not show the pull request itself, and so not whether it is outdated',
    8,
    ({ repository }) => (repository.pullRequest.author = null),
  ],
  [
    'everything is read from REST if the organisation’s repository is missing without an error that says why',
    8,
    (data) => (data.organisation = null),
  ],
  [
    'the head is read from REST if a status is expected, which REST does not list',
    3,
    ({ repository }) => {
      const expected = { context: 'countersign / gate main', state: 'EXPECTED', createdAt: null };
      repository.object.status = { contexts: [{ ...expected, description: null, targetUrl: null }] };
    },
  ],
])('%s', async (_, requests, change) => {
  standIn.addRepository({ owner: 'acme', name: '.github', files: { 'README.md': 'hello\n' } });
  alter = change;
  expect(await askedAfter(() => undefined)).toHaveLength(requests);
});

async function discussion() {
  return (await rest.prefetched(REPO, number, { headSha })).discussion;
}

test('a query shows the conversations, and what the base branch requires of them and of reviews', async () => {
  const quiet = { lacks_reviews: false, needed_reviews: 0, unresolved: 0, more: false, must_resolve: false };
  expect(await discussion()).toEqual(quiet);
  const id = await standIn.beginConversation(NAME, number, 'otto', 'a.ts');
  await standIn.beginConversation(NAME, number, 'otto', 'a.ts');
  await standIn.resolveConversation(NAME, number, id, 'ada');
  expect(await discussion()).toEqual({ ...quiet, unresolved: 1 });
  standIn.protectBranch(NAME, 'main', { conversations: true });
  standIn.addRuleset(NAME, { approvals: 2 });
  expect(await discussion()).toEqual({
    lacks_reviews: true,
    needed_reviews: 2,
    unresolved: 1,
    more: false,
    must_resolve: true,
  });
});

test('more conversations than a page are not counted to the end', async () => {
  for (let index = 0; index < 101; index++) await standIn.beginConversation(NAME, number, 'otto', 'a.ts');
  expect(await discussion()).toMatchObject({ unresolved: 100, more: true });
});

test('everything else still counts if GitHub hides what the base branch requires', async () => {
  standIn.addRepository({ owner: 'acme', name: '.github', files: { 'README.md': 'hello\n' } });
  alter = (answer) => {
    answer.repository.pullRequest.baseRef.refUpdateRule = null;
    answer.repository.pullRequest.baseRef.rules = null;
  };
  errors = [{ type: 'FORBIDDEN', path: ['repository', 'pullRequest', 'baseRef', 'refUpdateRule'] }];
  const found = await rest.prefetched(REPO, number, { headSha });
  expect(found.pullRequest?.number).toBe(number);
  expect(found.discussion).toMatchObject({ must_resolve: false, needed_reviews: 0 });
});
