import type { Clock } from '../../src/core/clock.ts';

/** A clock that moves only when a test moves it. */
export class ManualClock implements Clock {
  #now: number;

  constructor(start: string) {
    this.#now = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  moveTo(time: Date): void {
    this.#now = Math.max(this.#now, time.getTime());
  }
}
