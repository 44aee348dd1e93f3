const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

/**
 * How long to wait after that many failures in a row, in ms: doubling from one second up to five minutes, less a part by
 * chance.
 * @param random from 0 up to but not including 1.
 */
export function backoffMs(attempts: number, random: number): number {
  return spread(Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1)), random);
}

/**
 * How long to leave alone what has been away for that long, in ms: half as long again, from one second up to the longest pause, less a
 * part by chance. So nothing needs to be counted, and a deployment's few seconds cost a few seconds.
 * @param random from 0 up to but not including 1.
 */
export function pauseMs(unavailableForMs: number, longestMs: number, random: number): number {
  return spread(Math.min(longestMs, Math.max(FIRST_MS, unavailableForMs / 2)), random);
}

/** Between a half and the whole, so that what failed together does not come again together. */
function spread(full: number, random: number): number {
  return Math.round(full / 2 + (full / 2) * random);
}
