import { expect, test } from 'vitest';
import { startWorld } from './support.ts';

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
