import { expect, test } from 'vitest';
import { roughly } from '../../../src/messages/studio/parts.ts';

test.each([
  [3.9, '4 seconds'],
  [59.7, '1 minute'],
  [119, '1 minute'],
  [3_599.8, '1 hour'],
  [-1, '0 seconds'],
])('a time of %d seconds is shown as %s', (seconds, words) => {
  expect(roughly(seconds)).toBe(words);
});
