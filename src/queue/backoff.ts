const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

/**
 * How long to wait after that many failures in a row, in ms: doubling from one second up to five minutes, and of that
 * between a half and the whole, so that what failed together does not come again together.
 * @param random from 0 up to but not including 1.
 */
export function backoffMs(attempts: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * random);
}
