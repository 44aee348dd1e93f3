import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemTimers, type Timers } from '../../src/core/clock.ts';

/** Timers by which time passes only while somebody sleeps, and then at once. */
export function hurriedTimers(): Timers {
  let elapsed = 0;
  return {
    ...systemTimers,
    elapsedMs: () => elapsed,
    async sleep(ms) {
      elapsed += ms;
      await nextTurn();
    },
  };
}
