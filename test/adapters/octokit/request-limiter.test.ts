import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRequestLimiter, type RequestLimiter } from '../../../src/adapters/octokit/request-limiter.ts';
import type { Urgency } from '../../../src/ports/github.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Sends that many requests. The names of those that have left are recorded in order. */
function sender(limiter: RequestLimiter) {
  const left: string[] = [];
  const answers = new Map<string, () => void>();
  return {
    left,
    send(urgency: Urgency, points: number, ...names: string[]) {
      for (const name of names) {
        void limiter.enter(urgency, { api: 'rest', points }).then((answered) => {
          left.push(name);
          answers.set(name, answered);
        });
      }
      return Promise.resolve();
    },
    async answer(...names: string[]) {
      for (const name of names) answers.get(name)?.();
      await Promise.resolve();
    },
  };
}

function limiterOf(concurrent: number, pointsPerMinute: number): RequestLimiter {
  return createRequestLimiter({ concurrent, pointsPerMinute, graphqlPointsPerMinute: pointsPerMinute });
}

describe('the request limiter', () => {
  it('limits how many requests are under way at once, and sends the next when one is answered', async () => {
    const limiter = limiterOf(2, 100);
    const { left, send, answer } = sender(limiter);
    await send('person', 1, 'a', 'b', 'c');
    expect(left).toEqual(['a', 'b']);
    expect(limiter.waiting().person).toBe(1);
    await answer('a', 'a');
    expect(left).toEqual(['a', 'b', 'c']);
    expect(limiter.inFlight()).toBe(2);
  });

  it('sends more urgent requests first, and reserves room that only they may use', async () => {
    const limiter = limiterOf(10, 1_000);
    const { left, send, answer } = sender(limiter);
    await send('background', 1, ...'abcdefgh');
    expect(left).toEqual([...'abcdefg']);
    await send('run', 1, '1', '2', '3');
    await send('person', 1, 'x', 'y');
    expect(left).toEqual([...'abcdefg', '1', '2', 'x']);
    await answer(...'abcd');
    expect(left.slice(10)).toEqual(['y', '3']);
    await answer('e', 'f');
    expect(left.slice(12)).toEqual(['h']);
  });

  it('waits for the minute to have points again', async () => {
    const limiter = limiterOf(100, 20);
    const { left, send, answer } = sender(limiter);
    await send('person', 5, 'a', 'b', 'c', 'd', 'e');
    await answer('a', 'b', 'c', 'd');
    expect(left).toEqual(['a', 'b', 'c', 'd']);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(left).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(left).toHaveLength(5);
  });

  it('counts the points of GraphQL apart', async () => {
    const limiter = limiterOf(100, 5);
    const left: string[] = [];
    for (const api of ['rest', 'rest', 'graphql', 'graphql'] as const) {
      void limiter.enter('person', { api, points: 5 }).then(() => left.push(api));
    }
    await Promise.resolve();
    expect(left).toEqual(['rest', 'graphql']);
  });

  it('sends a request that costs more than its whole share when no other is under way', async () => {
    const limiter = limiterOf(1, 4);
    const { left, send } = sender(limiter);
    await send('background', 5, 'a');
    expect(left).toEqual(['a']);
  });
});

describe('a job’s turn', () => {
  it('comes at once while its points are free, and otherwise when they are again', async () => {
    const limiter = limiterOf(100, 100);
    const { send } = sender(limiter);
    expect(limiter.turn('a', 'person', 60)).toBeUndefined();
    await send('person', 60, 'a');
    expect(limiter.turn('b', 'person', 50)).toBe(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(limiter.turn('b', 'person', 50)).toBeUndefined();
  });

  it('comes in the order in which the jobs asked, however often they ask', async () => {
    const limiter = limiterOf(100, 60);
    const { send } = sender(limiter);
    await send('person', 60, 'full');
    expect(limiter.turn('a', 'person', 10)).toBe(60_000);
    expect(limiter.turn('b', 'person', 10)).toBe(70_000);
    expect(limiter.turn('a', 'person', 10)).toBe(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(limiter.turn('late', 'person', 10)).toBeGreaterThan(10_000);
    expect(limiter.turn('a', 'person', 10)).toBeUndefined();
  });

  it('does not wait for less urgent jobs, but they get a part in any case', async () => {
    const limiter = limiterOf(100, 100);
    const { send } = sender(limiter);
    await send('person', 80, 'most');
    expect(limiter.turn('edit', 'background', 10)).toBe(60_000);
    expect(limiter.turn('merge', 'person', 15)).toBeUndefined();
    expect(limiter.turn('another edit', 'run', 5)).toBeUndefined();
  });

  it('uses half of the points for ten minutes after GitHub refused a request', async () => {
    const limiter = limiterOf(100, 100);
    limiter.refused();
    expect(limiter.turn('a', 'person', 40)).toBeUndefined();
    expect(limiter.turn('b', 'person', 40)).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(limiter.turn('c', 'person', 90)).toBeUndefined();
  });
});
