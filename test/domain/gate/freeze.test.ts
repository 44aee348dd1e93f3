// @module-tag security

import { describe, expect, test } from 'vitest';
import { type Freeze, freezeAt, freezeDiagnostic, freezeSchema } from '../../../src/domain/gate/freeze.ts';

const frozen = (freeze: Omit<Freeze, 'reason'>, now: string) =>
  freezeAt({ ...freeze, reason: 'x' }, new Date(now)).frozen;

describe('a freeze', () => {
  const dates = { from: '2026-12-20', until: '2026-12-27' };
  const berlin = { from: '2026-12-20T18:00', until: '2026-12-21T06:00', time_zone: 'Europe/Berlin' };
  const night = { from: '22:00', until: '06:00' };
  const weekend = { from: '16:00', until: '09:00', days: ['fri'] as Freeze['days'] };
  test.each<[string, Omit<Freeze, 'reason'>, string, boolean]>([
    ['the minute before', dates, '2026-12-19T23:59:59Z', false],
    ['its first minute', dates, '2026-12-20T00:00:00Z', true],
    ['the last minute of its last day', dates, '2026-12-27T23:59:59Z', true],
    ['the minute after', dates, '2026-12-28T00:00:00Z', false],
    ['by the clock of its time zone, before', berlin, '2026-12-20T16:59:00Z', false],
    ['by the clock of its time zone, in it', berlin, '2026-12-20T17:00:00Z', true],
    ['by the clock of its time zone, at its end', berlin, '2026-12-21T05:00:00Z', false],
    ['only on its days', { ...dates, days: ['sun'] }, '2026-12-21T12:00:00Z', false],
    ['on one of its days', { ...dates, days: ['sun'] }, '2026-12-20T12:00:00Z', true],
    ['every day by the time of day', { from: '12:00', until: '13:00' }, '2026-03-02T12:30:00Z', true],
    ['every day, at the first free minute', { from: '12:00', until: '13:00' }, '2026-03-02T13:00:00Z', false],
    ['over midnight, late', night, '2026-03-02T23:00:00Z', true],
    ['over midnight, early', night, '2026-03-02T05:59:00Z', true],
    ['over midnight, by day', night, '2026-03-02T12:00:00Z', false],
    ['from Friday afternoon', weekend, '2026-03-06T16:00:00Z', true],
    ['into Saturday morning', weekend, '2026-03-07T08:59:00Z', true],
    ['not into Friday morning', weekend, '2026-03-06T08:00:00Z', false],
    ['not on Saturday afternoon', weekend, '2026-03-07T17:00:00Z', false],
    [
      'in the hour that comes twice, both times',
      { from: '2026-10-25T02:00', until: '2026-10-25T03:00', time_zone: 'Europe/Berlin' },
      '2026-10-25T01:30:00Z',
      true,
    ],
  ])('holds as its row says: %s', (_, freeze, now, expected) => {
    expect(frozen(freeze, now)).toBe(expected);
  });

  test.each([
    ['2026-12-27', '2026-12-20', '"until" must come after "from"'],
    ['18:00', '2026-12-20', '"from" and "until" must both be dates or both be times of day'],
    ['18:00', '18:00', '"until" must be another time of day than "from"'],
    ['2026-12-20', '2026-12-20', undefined],
    ['18:00', '06:00', undefined],
  ])('from %s until %s: %s', (from, until, diagnostic) => {
    expect(freezeDiagnostic({ from, until })).toBe(diagnostic);
  });

  test.each([
    [{ from: '2026-02-30', until: '2026-03-01' }],
    [{ from: '24:00', until: '06:00' }],
    [{ from: '2026-12-20', until: 'later' }],
    [{ from: '18:00', until: '19:00', time_zone: 'Mars/Olympus' }],
    [{ from: '18:00', until: '19:00', days: ['someday'] }],
  ])('cannot be written as %j', (freeze) => {
    expect(freezeSchema.safeParse({ ...freeze, reason: 'x' }).success).toBe(false);
  });
});
