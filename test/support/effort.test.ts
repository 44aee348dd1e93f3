import { expect, test } from 'vitest';
import { withinEffort, withinEffortAsync } from './effort.ts';

/** About as many units as it says: a unit reads a million bytes. */
function units(count: number): number {
  const bytes = new Uint8Array(1_000_000);
  let sum = 0;
  for (let unit = 0; unit < count; unit++) {
    for (let index = 0; index < bytes.length; index++) sum = (Math.imul(sum, 31) + (bytes[index] ?? 0)) | 0;
  }
  return sum;
}

test('work far beyond its limit is refused with a message that says how much it was', {
  tags: 'slow',
}, async () => {
  expect(() => withinEffort(4, () => units(40))).toThrow(
    /^at most 4 units of work are allowed, it took \d+(, \d+){4}$/,
  );
  await expect(withinEffortAsync(4, async () => units(40))).rejects.toThrow('at most 4 units');
});

test('work far below its limit is done once and returns its result', async () => {
  let times = 0;
  expect(withinEffort(300, () => [units(30), ++times])).toEqual([0, 1]);
  expect(await withinEffortAsync(300, async () => [units(30), ++times])).toEqual([0, 2]);
});

test('a first run that costs more than the others is forgiven', { tags: 'slow' }, () => {
  let times = 0;
  expect(withinEffort(30, () => units(++times === 1 ? 100 : 1))).toBe(0);
});
