import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recheckInMs } from '../../../src/domain/run/question.ts';

describe('an open approval is polled again', () => {
  test.each([
    [0, 3_000],
    [119_999, 3_000],
    [120_000, 10_000],
    [899_999, 10_000],
    [900_000, 30_000],
    [7_199_999, 30_000],
    [7_200_000, 120_000],
    [86_399_999, 120_000],
    [86_400_000, 600_000],
    [30 * 86_400_000, 600_000],
  ])('%i ms after it was opened, in %i ms', (openFor, wait) => {
    expect(recheckInMs(openFor)).toBe(wait);
  });

  test('at longer intervals, never shorter ones, the longer it has been open', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), fc.nat(2 ** 31 - 1), (a, b) => {
        expect(recheckInMs(Math.min(a, b))).toBeLessThanOrEqual(recheckInMs(Math.max(a, b)));
      }),
    );
  });

  test('soon if a clock was set back to before it was opened', () => {
    expect(recheckInMs(-60_000)).toBe(3_000);
  });
});
