import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The only source of time. Everything that decides takes `now` as a value; only the edge asks the clock,
 * so that tests can stand at any moment.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Lets time pass, and measures how much has, by a clock that nobody sets: for waits of seconds, which no row outlives. */
export interface Timers {
  /** Milliseconds that only ever go up. */
  elapsedMs(): number;
  sleep(ms: number): Promise<void>;
}

export const systemTimers: Timers = {
  elapsedMs: () => performance.now(),
  sleep: async (ms) => void (await sleep(ms)),
};
