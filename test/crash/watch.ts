import { writeSync } from 'node:fs';
import type { Clock } from '../../src/core/clock.ts';
import type { Watch } from './durable-writes.ts';
import { counter, faultPoint, isDeadly } from './kill-point.ts';

const STDOUT = 1;

/**
 * Writes each fault point of this thread to standard output, so that an undisturbed run lists them all, and dies at the one that
 * COUNTERSIGN_FAULT_POINT names. Nothing under src reads that variable.
 */
export function createWatch(): Watch {
  const deadly = process.env.COUNTERSIGN_FAULT_POINT;
  const count = counter();
  return (name) => {
    const nth = count(name);
    const nths = new Map(name.split('+').map((write) => [write, count(`*${write}`)]));
    return (when) => {
      const point = { when, name, nth };
      writeSync(STDOUT, `${faultPoint(point)}\n`);
      // To itself, so that not one more instruction of this program follows.
      if (isDeadly(deadly, point, (write) => nths.get(write) ?? 0)) process.kill(process.pid, 'SIGKILL');
    };
  };
}

/** A clock that may be ahead of the machine's. */
export function clockAhead(): Clock {
  const aheadMs = Number(process.env.COUNTERSIGN_CLOCK_AHEAD_MS ?? 0);
  return { now: () => new Date(Date.now() + aheadMs) };
}
