const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

/**
 * The pause after this many failures in a row, in ms: doubles from one second to five minutes, minus a random
 * part.
 * @param random from 0 up to but not including 1
 */
export function backoffMs(attempts: number, random: number): number {
  return spread(Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1)), random);
}

/**
 * The pause before a service is asked again that has been unavailable for `unavailableForMs`, in ms: half of
 * that time, at least one second and at most `longestMs`, minus a random part. Attempts need not be counted,
 * and a deployment of a few seconds costs only a few seconds.
 * @param random from 0 up to but not including 1
 */
export function pauseMs(unavailableForMs: number, longestMs: number, random: number): number {
  return spread(Math.min(longestMs, Math.max(FIRST_MS, unavailableForMs / 2)), random);
}

/** Between half and all of it, so that callers that failed together do not retry together. */
function spread(full: number, random: number): number {
  return Math.round(full / 2 + (full / 2) * random);
}
