import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The only source of time. Code that decides takes `now` as a value. Only entry points and adapters read the
 * clock, so tests can choose any moment.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Waits, and measures elapsed time with a monotonic clock. For waits of seconds, which need not survive a
 * restart.
 */
export interface Timers {
  /** Milliseconds since an arbitrary start. Never decreases, even when somebody sets the system clock. */
  elapsedMs(): number;
  sleep(ms: number): Promise<void>;
  /** Calls `work` after that time, unless the returned function is called before. Does not keep the process alive. */
  after(ms: number, work: () => void): () => void;
}

export const systemTimers: Timers = {
  elapsedMs: () => performance.now(),
  sleep: async (ms) => void (await sleep(ms)),
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
};
