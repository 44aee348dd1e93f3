import { beforeEach, expect, test } from 'vitest';
import { Sharing } from '../../../src/adapters/postgres/sharing.ts';
import { systemTimers } from '../../../src/core/clock.ts';
import { ManualClock } from '../../support/clock.ts';

const START = '2026-03-02T09:00:00.000Z';
const MINUTE_MS = 60_000;

/** Of this machine. */
let clock: ManualClock;
let sharing: Sharing;

beforeEach(() => {
  clock = new ManualClock(START);
  const start = clock.now().getTime();
  sharing = new Sharing({
    worker: 'one',
    clock,
    timers: { ...systemTimers, elapsedMs: () => clock.now().getTime() - start },
    on: async () => {
      throw new Error('no database is asked');
    },
    onChanged() {},
    onFailed() {},
  });
});

/** The database says a time, and its answer takes so long. */
const learn = (now: string, tookMs = 5) =>
  sharing.clock.timed(async () => {
    clock.advance(tookMs);
    return { now: Date.parse(now) };
  });

test('the clock of processes that share work follows the database when this machine is a minute ahead', async () => {
  await learn('2026-03-02T08:59:00.000Z');
  expect(sharing.clock.now()).toEqual(new Date('2026-03-02T08:59:00.000Z'));
  clock.advance(MINUTE_MS);
  expect(sharing.clock.now()).toEqual(new Date(START));
});

test('the clock of processes that share work is not turned back by an answer that a paused process reads late', async () => {
  await learn(START, 20 * MINUTE_MS);
  expect(sharing.clock.now()).toEqual(new Date('2026-03-02T09:20:00.000Z'));
});

test('the clock of processes that share work stays as it is while the database differs by less than a second', async () => {
  await learn('2026-03-02T09:00:00.900Z');
  expect(sharing.clock.now()).toEqual(clock.now());
});
