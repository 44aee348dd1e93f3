/**
 * The only source of time. Everything that decides takes `now` as a value; only the edge asks the clock,
 * so that tests can stand at any moment.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
