import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often it is checked whether the thread rests, in milliseconds. */
const CHECK_MS = 2_000;
/** The part of its time that a resting thread is busy. */
const BUSY_SHARE = 0.1;
/** A collection of less would cost more than it frees, in bytes. */
const WORTH_BYTES = 8 * 1_048_576;

/** Other collections free the objects and keep their pages. */
const THOROUGHLY = { execution: 'async', flavor: 'last-resort' };

/**
 * Whether a thread should collect its garbage now: it rests, and has taken memory since it last did. V8 collects when a
 * heap has grown, so one that rests after much work would keep its garbage until there is more work.
 */
export function shouldCollect(now: { busyShare: number; usedBytes: number; usedAfterLast: number }): boolean {
  return now.busyShare < BUSY_SHARE && now.usedBytes > now.usedAfterLast + WORTH_BYTES;
}

/** Lets the calling thread collect its garbage when it becomes idle. A collection takes about a tenth of a second. */
export function collectAtRest(): void {
  // V8 offers the function only to contexts that begin after the flag is set.
  setFlagsFromString('--expose-gc');
  const collect: (options: typeof THOROUGHLY) => Promise<void> = runInNewContext('gc');
  let before = performance.eventLoopUtilization();
  let usedAfterLast = 0;
  const check = setInterval(async () => {
    const now = performance.eventLoopUtilization();
    const { utilization: busyShare } = performance.eventLoopUtilization(now, before);
    before = now;
    if (!shouldCollect({ busyShare, usedBytes: usedBytes(), usedAfterLast })) return;
    await collect(THOROUGHLY);
    usedAfterLast = usedBytes();
  }, CHECK_MS);
  check.unref();
}

function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}
