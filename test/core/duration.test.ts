import { expect, it } from 'vitest';
import { formatDuration } from '../../src/core/duration.ts';

it.each([
  [850, '850 ms'],
  [999.7, '1 s'],
  [4_230, '4.2 s'],
  [59_980, '1 min'],
  [3_599_000, '1 h'],
  [7_199_000, '2 h'],
  [7_500_000, '2 h 5 min'],
  [86_399_000, '1 d'],
  [3 * 86_400_000, '3 d'],
])('%s ms are %s: no part is as long as the next unit', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});
