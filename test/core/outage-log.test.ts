import { expect, it } from 'vitest';
import { CountersignError } from '../../src/core/errors.ts';
import { withoutRepeats } from '../../src/core/outage-log.ts';
import { keepingLog } from '../disk/log-lines.ts';
import { ManualClock } from '../support/clock.ts';

const FULL = new CountersignError('storage.unavailable', 'The disk is full.');

it('logs an outage of the storage once a minute per message, with the number of omitted lines', () => {
  const { log, lines } = keepingLog();
  const clock = new ManualClock('2026-03-02T09:00:00.000Z');
  const quiet = withoutRepeats(log, clock);
  for (let second = 0; second < 130; second++) {
    quiet.error({ err: FULL }, 'not recorded');
    quiet.warn({ err: FULL }, 'not ready');
    clock.advance(1_000);
  }
  expect(
    lines.map(({ message, fields }) => ({ message, repeats: 'repeats' in fields && fields.repeats })),
  ).toEqual(
    [false, 59, 59].flatMap((repeats) => [
      { message: 'not recorded', repeats },
      { message: 'not ready', repeats },
    ]),
  );
});

it('logs an outage that the line itself names once a minute, too', () => {
  const { log, lines } = keepingLog();
  const quiet = withoutRepeats(log, new ManualClock('2026-03-02T09:00:00.000Z'));
  for (const key of ['a', 'b', 'c']) quiet.warn({ outage: 'github', key }, 'jobs wait');
  expect(lines).toMatchObject([{ message: 'jobs wait', fields: { key: 'a' } }]);
});

it('logs everything else each time', () => {
  const { log, lines } = keepingLog();
  const quiet = withoutRepeats(log, new ManualClock('2026-03-02T09:00:00.000Z'));
  for (const err of [new Error('x'), new CountersignError('queue.given_up', 'x'), undefined]) {
    quiet.error({ err }, 'again');
    quiet.error({ err }, 'again');
  }
  expect(lines).toHaveLength(6);
});
