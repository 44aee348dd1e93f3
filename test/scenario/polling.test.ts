// @module-tag slow
import { describe, expect, test } from 'vitest';
import type { Harness } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  hasExpired,
  MERGE_ONLY,
  open,
  pushAgain,
  react,
  start,
} from './support.ts';

const MINUTE = 60_000;

let harness: Harness;

/** A question that only the poller watches. */
async function watched(settings?: string): Promise<{ number: number; headSha: string }> {
  harness = await start({ chain: MERGE_ONLY, ...(settings ? { settings } : {}) });
  const opened = await open(harness);
  await harness.advance(A_RECHECK);
  return opened;
}

const reads = () => harness.github.requests.filter(({ path }) => path.includes('/issues/comments/')).length;
const polls = () => harness.github.requests.filter(({ path }) => path === '/graphql').length;

test('a question that nobody answers is polled by GraphQL and not read by REST', async () => {
  await watched();
  const [readsBefore, pollsBefore] = [reads(), polls()];
  await harness.advance(MINUTE);
  expect(reads()).toBe(readsBefore);
  expect(polls()).toBeGreaterThan(pollsBefore + 10);
});

test('two questions are polled in one request', async () => {
  await watched();
  await harness.github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'second',
    title: 'Second',
    files: { 'second.ts': 'export const two = 2;\n' },
  });
  await harness.settle();
  await harness.advance(MINUTE);
  const before = polls();
  await harness.advance(MINUTE);
  expect(polls() - before).toBeLessThanOrEqual(MINUTE / 3_000);
});

describe('without any webhook, the poll notices', () => {
  test('a reaction, after which the pull request is read again from REST and merged', async () => {
    const { number } = await watched();
    const isRead = ({ method, path }: { method: string; path: string }) =>
      method === 'GET' && path.endsWith(`/pulls/${number}`);
    const before = harness.github.requests.filter(isRead).length;
    await react(harness, number, 'mia');
    await harness.advance(5_000, 0);
    expect(harness.github.requests.filter(isRead).length).toBeGreaterThan(before);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('a reaction of somebody who may not countersign, which merges nothing', async () => {
    const { number } = await watched();
    await react(harness, number, 'otto');
    await harness.advance(MINUTE);
    expect(harness.github.merges).toEqual([]);
    await react(harness, number, 'mia');
    await harness.advance(5_000, 0);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('an edit of its comment, which asks again', async () => {
    const { number } = await watched();
    harness.github.holdDeliveries();
    await harness.github.editComment('octo/app', approvalOf(harness, number).id, 'mia', 'Merge it all.');
    await harness.advance(A_RECHECK);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number)).toHaveLength(2);
  });

  test('a deleted comment, which asks again', async () => {
    const { number } = await watched();
    harness.github.holdDeliveries();
    await harness.github.deleteComment('octo/app', approvalOf(harness, number).id, 'mia');
    await harness.advance(A_RECHECK);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number)).toHaveLength(1);
  });

  test('a push, which voids the question', async () => {
    const { number } = await watched();
    harness.github.holdDeliveries();
    await pushAgain(harness);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number).map(hasExpired)[0]).toBe(true);
  });
});

describe('where GraphQL does not answer', () => {
  test.each([
    ['as it is not there', { status: 404 }],
    ['as it fails', { status: 502 }],
    ['as its limit is spent', { status: 200, body: { errors: [{ type: 'RATE_LIMITED' }] } }],
    ['as it shows nothing', { status: 200, body: { data: { a: [null] }, errors: [{ type: 'NOT_FOUND' }] } }],
  ])('%s, a countersign is found by REST', async (_, answer) => {
    const { number } = await watched();
    harness.github.fail(({ path }) => path === '/graphql', answer);
    await harness.advance(MINUTE);
    await react(harness, number, 'mia');
    await harness.advance(10_000);
    expect(harness.github.merges).toHaveLength(1);
  });
});

test('a restart polls by what the last look saw, and reads nothing by REST', async () => {
  await watched();
  await harness.restart();
  await harness.settle();
  const before = reads();
  await harness.advance(MINUTE);
  expect(reads()).toBe(before);
});
