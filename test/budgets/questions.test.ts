// @module-tag slow
import { afterEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../src/ports/storage.ts';
import { A_RECHECK, approvalOf, MERGE_ONLY, open, react, start } from '../scenario/support.ts';
import type { Harness } from '../support/harness.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let harness: Harness | undefined;
afterEach(() => harness?.stop());

describe('5,000 open questions of one installation that nobody answers', () => {
  test('cost at most 300 requests an hour, no request of REST, and nothing of the engine', async () => {
    const used = await withQuestions(5_000, 2 * DAY);
    await used.harness.advance(6 * MINUTE);
    used.reset();
    await used.harness.advance(HOUR);
    const { polls, looks, transactions, others } = used.figures();
    expect(polls).toBeLessThanOrEqual(300);
    expect(polls).toBeGreaterThan(150);
    expect(looks).toBe(0);
    expect(others).toEqual([]);
    // One turn of the queue claims the poll, and one returns it; recovery has its own.
    expect(transactions).toBeLessThanOrEqual(4 * polls);
  });

  test('cost no more in the minutes after a start than in any others', async () => {
    const used = await withQuestions(5_000, 2 * DAY);
    used.reset();
    await used.harness.restart();
    await used.harness.advance(MINUTE);
    const { polls, looks } = used.figures();
    expect(polls).toBeLessThanOrEqual(6);
    // Recovery compares the one pull request that exists, and wakes its question.
    expect(looks).toBeLessThanOrEqual(1);
  });

  test('leave most points of GraphQL’s hour to others, however new they are', async () => {
    const used = await withQuestions(5_000, 0);
    await used.harness.advance(MINUTE);
    used.reset();
    await used.harness.advance(10 * MINUTE);
    // 3 points each: 3,000 an hour.
    expect(used.figures().polls).toBeLessThanOrEqual(170);
  });
});

describe('beside 5,000 open questions, a reaction is seen', () => {
  test.each([
    ['within 5 s on a question of the last hour', 50 * MINUTE, 5 * SECOND],
    ['within 60 s on a question of the last day', 20 * HOUR, MINUTE],
    ['within 5 min on an older question', 3 * DAY, 5 * MINUTE],
  ])('%s', async (_, age, within) => {
    const used = await withQuestions(5_000, 2 * DAY, age);
    await used.harness.advance(7 * MINUTE + 1_234);
    await react(used.harness, used.number, 'mia');
    await used.harness.advance(within, 0);
    expect(used.harness.github.merges).toHaveLength(1);
  });
});

/**
 * Copies an asked question so often. All copies watch the same comment, which GitHub shows for each of them, but belong to
 * another repository, so that no event reaches them.
 * @param realAge the age of the question that is copied; that of the copies if left out
 */
async function withQuestions(count: number, age: number, realAge = age) {
  let transactions = 0;
  let looks = 0;
  harness = await start({
    chain: MERGE_ONLY,
    storage: (real) => counting(real, () => transactions++),
    log: countingLooks(() => looks++),
  });
  const { github, clock } = harness;
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  approvalOf(harness, number);
  const { storage } = harness.app;
  const [run] = await storage.read.runs.list({ pullRequest: number });
  const state = run && (await storage.read.runs.load(run.id));
  const [approval] = run ? await storage.read.approvals.ofRun(run.id) : [];
  if (!run || !state || !approval?.watch) throw new Error('nobody was asked');
  const asked = (ago: number) => new Date(clock.now().getTime() - ago);
  await storage.transaction(async (tx) => {
    await tx.approvals.save({ ...approval, askedAt: asked(realAge) });
    for (let copy = 0; copy < count; copy++) {
      const id = `${run.id}-copy${copy}`;
      const own = (invocation: string) => `${invocation}-copy${copy}`;
      await tx.runs.insert({
        run: { ...run, id, repositoryId: 999, repository: 'octo/elsewhere' },
        invocations: state.invocations.map((step) => ({ ...step, id: own(step.id), runId: id })),
      });
      const { invocationId } = approval;
      await tx.approvals.insert({
        ...approval,
        id: own(approval.id),
        runId: id,
        invocationId: own(invocationId),
        askedAt: asked(age),
      });
    }
  });
  await harness.restart();
  let from = 0;
  const used = {
    harness,
    number,
    reset() {
      from = github.requests.length;
      transactions = 0;
      looks = 0;
    },
    figures() {
      const sent = github.requests.slice(from);
      return {
        polls: sent.filter(({ path }) => path === '/graphql').length,
        looks,
        transactions,
        others: sent
          .map(({ method, path }) => `${method} ${path}`)
          .filter((request) => !/\/graphql|\/app\/|installation|\/pulls\?|access_tokens/.test(request)),
      };
    },
  };
  return used;
}

function counting(real: Storage, onTransaction: () => void): Storage {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name === 'transaction') onTransaction();
      return value.bind(target);
    },
  });
}

function countingLooks(onLook: () => void): NonNullable<Parameters<typeof start>[0]>['log'] {
  const none = () => undefined;
  const debug = (_: unknown, message: string) => {
    if (message === 'attempted a step') onLook();
  };
  return { debug, info: none, warn: none, error: none };
}
