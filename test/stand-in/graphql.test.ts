import { expect, test } from 'vitest';
import { AT, REPO, startWorld } from './support.ts';

const nodes = (count: number) => JSON.stringify(Array.from({ length: count }, () => 'none'));
const FIELDS = '{ ... on IssueComment { reactions(first: 100) { nodes { databaseId } } } }';

test('a list takes 100 ids, and a query several lists', async () => {
  const { octokit } = await startWorld();
  const ask = async (query: string) => (await octokit.request('POST /graphql', { query })).data;
  expect((await ask(`{ nodes(ids: ${nodes(101)}) { id } }`)).errors).toMatchObject([
    { type: 'ARGUMENT_LIMIT', message: 'You may not provide more than 100 node ids; you provided 101.' },
  ]);
  const { data, errors } = await ask(
    `{ a: nodes(ids: ${nodes(99)}) { id } b: nodes(ids: ${nodes(99)}) { id } }`,
  );
  expect([data.a.length, data.b.length]).toEqual([99, 99]);
  expect(errors[0]).toMatchObject({ type: 'NOT_FOUND' });
});

test('a query costs a point for 100 connections, of a limit of its own', async () => {
  const { octokit } = await startWorld();
  const left = async (query: string) => {
    const { headers } = await octokit.request('POST /graphql', { query });
    expect(headers['x-ratelimit-resource']).toBe('graphql');
    return Number(headers['x-ratelimit-remaining']);
  };
  const first = await left('{ viewer { login } }');
  const second = await left(
    `{ a: nodes(ids: ${nodes(100)}) ${FIELDS} b: nodes(ids: ${nodes(100)}) ${FIELDS} }`,
  );
  expect([first, second]).toEqual([4_999, 4_997]);
  const { headers } = await octokit.request('GET /rate_limit');
  expect(headers['x-ratelimit-remaining']).toBe('5000');
});

/** A pull request, and what sends a mutation with that many comments on it. */
async function startWriting(options: Parameters<typeof startWorld>[0] = {}) {
  const world = await startWorld(options);
  const { github, octokit } = world;
  const change = { author: 'walt', branch: 'fix', title: 'Fix', files: { 'a.ts': 'export {};\n' } };
  const { number } = await github.openPullRequest({ repo: REPO, ...change });
  const { data: pull } = await octokit.pulls.get({ ...AT, pull_number: number });
  const field = (index: number, answer: string) =>
    `c${index}: addComment(input: { subjectId: "${pull.node_id}", body: "Hello" }) { ${answer} }`;
  const write = (count: number, answer = 'clientMutationId') => {
    const fields = Array.from({ length: count }, (_, index) => field(index, answer));
    return octokit.request('POST /graphql', { query: `mutation { ${fields.join(' ')} }` });
  };
  return { ...world, write, comments: () => github.comments(REPO, number).length };
}

test('a mutation with an unknown field executes nothing', async () => {
  const { write, comments } = await startWriting();
  const { data } = await write(2, 'nothing');
  expect(data).toEqual({ errors: [expect.objectContaining({ extensions: { code: 'undefinedField' } })] });
  expect(comments()).toBe(0);
});

test('each comment of a mutation counts as created content', { tags: 'slow' }, async () => {
  const { write, comments, github } = await startWriting({ secondaryLimits: { mergesAreContent: false } });
  await write(79);
  await expect(write(2)).rejects.toMatchObject({ status: 403 });
  expect(github.slowedDown).toEqual({ points: 0, content: 1 });
  await write(1);
  expect(comments()).toBe(80);
});

/** A comment of maya's that the app may collapse. */
async function startCollapsing(options: Parameters<typeof startWorld>[0] = {}) {
  const world = await startWorld(options);
  const { github, octokit } = world;
  const change = { author: 'walt', branch: 'fix', title: 'Fix', files: { 'a.ts': 'export {};\n' } };
  const { number } = await github.openPullRequest({ repo: REPO, ...change });
  const id = await github.comment(REPO, number, 'maya', 'Hello');
  await github.react(REPO, id, 'walt', 'rocket');
  const { data } = await octokit.issues.getComment({ ...AT, comment_id: id });
  const query = `mutation { minimizeComment(input: { subjectId: "${data.node_id}", classifier: OUTDATED }) { minimizedComment { isMinimized minimizedReason } } }`;
  const collapse = async () => (await octokit.request('POST /graphql', { query })).data;
  return { collapse, comment: () => github.comments(REPO, number)[0] };
}

test('a comment is collapsed with its text and reactions, also a second time', async () => {
  const { collapse, comment } = await startCollapsing();
  const before = comment();
  expect(before).toMatchObject({ isMinimized: false });
  const collapsed = {
    data: { minimizeComment: { minimizedComment: { isMinimized: true, minimizedReason: 'outdated' } } },
  };
  expect(await collapse()).toEqual(collapsed);
  expect(await collapse()).toEqual(collapsed);
  expect(comment()).toEqual({ ...before, isMinimized: true });
});

test('a token without write access to pull requests collapses no comment', async () => {
  const { collapse, comment } = await startCollapsing({
    permissions: { pull_requests: 'read', issues: 'read' },
  });
  expect(await collapse()).toMatchObject({
    data: { minimizeComment: null },
    errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }],
  });
  expect(comment()).toMatchObject({ isMinimized: false });
});
