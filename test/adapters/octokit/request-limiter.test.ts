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
        void limiter.enter(urgency, points).then((answered) => {
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

describe('the request limiter', () => {
  it('limits how many requests are under way at once, and sends the next when one is answered', async () => {
    const limiter = createRequestLimiter({ concurrent: 2, pointsPerMinute: 100 });
    const { left, send, answer } = sender(limiter);
    await send('person', 1, 'a', 'b', 'c');
    expect(left).toEqual(['a', 'b']);
    expect(limiter.waiting().person).toBe(1);
    await answer('a', 'a');
    expect(left).toEqual(['a', 'b', 'c']);
    expect(limiter.inFlight()).toBe(2);
  });

  it('sends more urgent requests first, and reserves room that only they may use', async () => {
    const limiter = createRequestLimiter({ concurrent: 10, pointsPerMinute: 1_000 });
    const { left, send, answer } = sender(limiter);
    await send('background', 1, ...'abcdefg');
    expect(left).toEqual([...'abcde']);
    await send('run', 1, '1', '2', '3', '4');
    await send('person', 1, 'x', 'y', 'z');
    expect(left).toEqual([...'abcde123', 'x', 'y']);
    await answer('a', 'b', 'c', 'd', 'e', 'x', 'y');
    expect(left.slice(10)).toEqual(['z', '4']);
    await answer('1', '2');
    expect(left.slice(12)).toEqual(['f', 'g']);
  });

  it('waits for the minute to have points again', async () => {
    const limiter = createRequestLimiter({ concurrent: 100, pointsPerMinute: 20 });
    const { left, send, answer } = sender(limiter);
    await send('person', 5, 'a', 'b', 'c', 'd', 'e');
    await answer('a', 'b', 'c', 'd');
    expect(left).toEqual(['a', 'b', 'c', 'd']);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(left).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(left).toHaveLength(5);
  });

  it('sends a request that costs more than its whole share when no other is under way', async () => {
    const limiter = createRequestLimiter({ concurrent: 1, pointsPerMinute: 4 });
    const { left, send } = sender(limiter);
    await send('background', 5, 'a');
    expect(left).toEqual(['a']);
  });
});
