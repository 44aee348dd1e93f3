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

/** By how much a clock may differ from the shared one and is believed all the same, in milliseconds: answers take a moment. */
const TOLERATED_MS = 1_000;

/** A clock that goes by the time of what several machines share, such as a database, as soon as that has said what time it is. */
export class SharedClock implements Clock {
  readonly #clock: Clock;
  readonly #timers: Pick<Timers, 'elapsedMs'>;
  /** By how much this machine's clock is behind. */
  #behindMs = 0;

  constructor(clock: Clock = systemClock, timers: Pick<Timers, 'elapsedMs'> = systemTimers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  now(): Date {
    return new Date(this.#clock.now().getTime() + this.#behindMs);
  }

  /**
   * Learns the time from an answer, unless that took long: a process that was paused meanwhile would turn its clock back, and believe
   * that what it has judged long ago is fresh.
   * @param ask its answer has the shared time, in ms since 1970
   */
  async timed<T extends { now: number }>(ask: () => Promise<T>): Promise<T> {
    const asked = { at: this.#clock.now().getTime(), elapsedMs: this.#timers.elapsedMs() };
    const answer = await ask();
    const here = this.#clock.now().getTime();
    const took = Math.max(Math.abs(here - asked.at), this.#timers.elapsedMs() - asked.elapsedMs);
    const behindMs = answer.now - here;
    if (took < TOLERATED_MS && Math.abs(behindMs - this.#behindMs) > TOLERATED_MS) this.#behindMs = behindMs;
    return answer;
  }
}

/** Asks, and lets the clock learn the time from the answer if it is one that does. */
export function timedBy<T extends { now: number }>(clock: Clock, ask: () => Promise<T>): Promise<T> {
  return clock instanceof SharedClock ? clock.timed(ask) : ask();
}
