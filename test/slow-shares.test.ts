import { describe, expect, it } from 'vitest';
import { recordedSeconds, sharesOf, slowFiles } from '../scripts/slow-shares.ts';

const files = slowFiles();
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

describe.each([5, 10])('%i shares of the slow tests', (count) => {
  const shares = sharesOf(files, count);

  it('contain each file once', () => {
    expect(shares.flatMap((share) => share.files).sort()).toEqual(files);
  });

  it('are of about the same length', () => {
    const mean = sum(shares.map((share) => share.seconds)) / count;
    expect(shares.filter((share) => Math.abs(share.seconds - mean) > mean / 10)).toEqual([]);
  });
});

it('the recorded lengths are of files that have slow tests', () => {
  expect(Object.keys(recordedSeconds()).filter((file) => !files.includes(file))).toEqual([]);
});
