import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPace, type Pace } from '../../src/effect/pace.ts';
import { at } from '../support/builders.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** Takes as many places as there are at that moment, at most `most`. */
function takeAll(pace: Pace, ms: number, most = 1_000): number {
  let taken = 0;
  while (taken < most && pace.take(1, at(ms)) === undefined) taken++;
  return taken;
}

const msOf = (time: Date | undefined) => time && time.getTime() - at(0).getTime();

describe('the pace of writes', () => {
  test('lets a burst of 70 through at once, and then says when there is room', () => {
    const pace = createPace();
    expect(takeAll(pace, 0)).toBe(70);
    expect(msOf(pace.take(1, at(5_000)))).toBe(MINUTE);
    expect(msOf(pace.take(1, at(MINUTE - 1)))).toBe(MINUTE);
    expect(pace.take(1, at(MINUTE))).toBeUndefined();
  });

  test('frees places one by one, as they were taken', () => {
    const pace = createPace();
    for (let second = 0; second < 50; second++) pace.take(1, at(second * 1_000));
    expect(takeAll(pace, 50_000)).toBe(20);
    expect(takeAll(pace, MINUTE)).toBe(1);
    expect(takeAll(pace, MINUTE + 2_000)).toBe(2);
  });

  test('lets 450 through in an hour', () => {
    const pace = createPace();
    let taken = 0;
    for (let minute = 0; minute < 60; minute++) taken += takeAll(pace, minute * MINUTE);
    expect(taken).toBe(450);
    expect(pace.take(1, at(HOUR))).toBeUndefined();
  });

  test('takes no place when it refuses', () => {
    const pace = createPace();
    takeAll(pace, 0);
    for (let tries = 0; tries < 100; tries++) pace.take(1, at(30_000));
    expect(takeAll(pace, MINUTE)).toBe(70);
  });

  test('keeps installations apart', () => {
    const pace = createPace();
    takeAll(pace, 0);
    expect(pace.take(2, at(0))).toBeUndefined();
  });

  test('names the moment of the hour’s room when both windows are full', () => {
    const pace = createPace();
    takeAll(pace, 0, 30);
    for (let minute = 1; minute <= 6; minute++) takeAll(pace, minute * MINUTE);
    expect(msOf(pace.take(1, at(6 * MINUTE)))).toBe(HOUR);
  });
});

describe('whatever is asked when', () => {
  const gaps = fc.array(fc.constantFrom(0, 0, 0, 0, 1, 500, 10_000, MINUTE - 1), {
    minLength: 100,
    maxLength: 900,
  });

  test('no minute has more than 70 writes and no hour more than 450', () => {
    fc.assert(
      fc.property(gaps, (asked) => {
        const pace = createPace();
        const taken: number[] = [];
        let now = 0;
        for (const gap of asked) {
          now += gap;
          if (pace.take(1, at(now)) === undefined) taken.push(now);
        }
        for (const [index, time] of taken.entries()) {
          expect(time - (taken[index - 70] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(MINUTE);
          expect(time - (taken[index - 450] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(HOUR);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a refusal names a later moment, and waiting for it again and again leads to a place', () => {
    fc.assert(
      fc.property(gaps, (asked) => {
        const pace = createPace();
        let now = 0;
        for (const gap of asked) {
          now += gap;
          pace.take(1, at(now));
        }
        for (let refusals = 0; ; refusals++) {
          expect(refusals).toBeLessThan(5);
          const next = msOf(pace.take(1, at(now)));
          if (next === undefined) return;
          expect(next).toBeGreaterThan(now);
          now = next;
        }
      }),
      { numRuns: 50 },
    );
  });
});
