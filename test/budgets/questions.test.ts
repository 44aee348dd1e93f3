// @module-tag slow
import { afterEach, describe, expect, test } from 'vitest';
import { react } from '../scenario/support.ts';
import { type ManyQuestions, manyQuestions } from './many-questions.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let used: ManyQuestions;
afterEach(() => used.harness.stop());

describe('5,000 open questions of one installation that nobody answers', () => {
  test('cost at most 300 requests an hour, no request of REST, and nothing of the engine', async () => {
    used = await manyQuestions(5_000, 2 * DAY);
    await used.harness.advance(6 * MINUTE);
    used.reset();
    await used.harness.advance(HOUR);
    const { polls, rechecks, transactions, others } = used.figures();
    expect(polls).toBeLessThanOrEqual(300);
    expect(polls).toBeGreaterThan(150);
    expect(rechecks).toBe(0);
    expect(others).toEqual([]);
    // One turn of the queue claims the poll, and one returns it; recovery has its own.
    expect(transactions).toBeLessThanOrEqual(4 * polls);
  });

  test('cost no more in the minutes after a start than in any others', async () => {
    used = await manyQuestions(5_000, 2 * DAY);
    used.reset();
    await used.harness.restart();
    await used.harness.advance(MINUTE);
    const { polls, rechecks } = used.figures();
    expect(polls).toBeLessThanOrEqual(6);
    // Recovery compares the one pull request that exists, and wakes its question.
    expect(rechecks).toBeLessThanOrEqual(1);
  });

  test('leave most points of GraphQL’s hour to others, however new they are', async () => {
    used = await manyQuestions(5_000, 0);
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
    used = await manyQuestions(5_000, 2 * DAY, { realAge: age });
    await used.harness.advance(7 * MINUTE + 1_234);
    await react(used.harness, used.number, 'mia');
    await used.harness.advance(within, 0);
    expect(used.harness.github.merges).toHaveLength(1);
  });
});
