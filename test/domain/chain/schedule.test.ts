import { describe, expect, test } from 'vitest';
import {
  nextAfter,
  scheduleProblem,
  timezoneProblem,
  whatIsDue,
} from '../../../src/domain/chain/schedule.ts';
import type { Schedule } from '../../../src/domain/chain/trigger-schema.ts';

const daily: Schedule = {
  schedule: '30 2 * * *',
  timezone: 'Europe/Berlin',
  catchup: 'last',
  catchupWindowMs: 86_400_000,
  overlap: 'skip',
};
const hourly: Schedule = { ...daily, schedule: 'every 1h', timezone: 'UTC' };
const at = (time: string) => new Date(`2026-03-02T${time}Z`);

function firingsBetween(schedule: Schedule, from: string, until: string): string[] {
  const times: string[] = [];
  for (let next = nextAfter(schedule, new Date(from)); next && next <= new Date(until); ) {
    times.push(next.toISOString());
    next = nextAfter(schedule, next);
  }
  return times;
}

describe('a schedule', () => {
  test('fires once on every day of two years, also when clocks change', () => {
    const times = firingsBetween(daily, '2025-12-31T12:00:00Z', '2027-12-31T12:00:00Z');
    expect(times).toHaveLength(730);
    // On 29 March, 2:30 does not exist; it fires at the first moment after.
    expect(times).toContain('2026-03-29T01:00:00.000Z');
    // On 25 October, 2:30 exists twice.
    expect(times.filter((time) => time.startsWith('2026-10-25'))).toEqual(['2026-10-25T00:30:00.000Z']);
    expect(times).toContain('2026-10-26T01:30:00.000Z');
  });

  test.each([
    ['every 6h', '2026-03-02T07:00:00Z', '2026-03-02T12:00:00.000Z'],
    ['every 6h', '2026-03-02T12:00:00Z', '2026-03-02T18:00:00.000Z'],
    ['0 9 * * 1-5', '2026-03-06T12:00:00Z', '2026-03-09T09:00:00.000Z'],
    ['0 0 29 2 *', '2026-03-06T12:00:00Z', '2028-02-29T00:00:00.000Z'],
  ])('%s after %s fires at %s', (schedule, from, next) => {
    expect(nextAfter({ schedule, timezone: 'UTC' }, new Date(from))?.toISOString()).toBe(next);
  });

  test.each([
    ['0 6 * * 1-5', undefined],
    ['every 6h', undefined],
    ['0 0 30 2 *', '"0 0 30 2 *" never fires: no date matches it'],
    ['61 * * * *', '"61 * * * *" is no schedule of cron: Invalid value for minute: 61'],
    ['0 0 32 * *', '"0 0 32 * *" is no schedule of cron: Invalid value for day: 32'],
    ['0 0 * 13 *', '"0 0 * 13 *" is no schedule of cron: Invalid value for month: 13'],
    ['', 'a schedule is five fields of cron'],
    ['* * * * * *', 'a schedule is five fields of cron'],
    ['@daily', 'a schedule is five fields of cron'],
    ['? * * * *', 'a schedule is five fields of cron'],
    ['every 10s', '"every" needs a number and a unit'],
    ['every 0m', '"every" needs a number and a unit'],
  ])('%j has the problem %j', (schedule, problem) => {
    if (problem === undefined) expect(scheduleProblem(schedule)).toBeUndefined();
    else expect(scheduleProblem(schedule)).toContain(problem);
  });

  test.each([
    ['Europe/Berlin', undefined],
    ['UTC', undefined],
    ['Europe/Berln', 'there is no time zone "Europe/Berln": did you mean "Europe/Berlin"?'],
    ['Mars/Olympus', 'there is no time zone "Mars/Olympus"; write one such as Europe/Berlin or UTC'],
    ['+01:00', 'there is no time zone "+01:00"; write one such as Europe/Berlin or UTC'],
  ])('in the zone %s has the problem %j', (zone, problem) => {
    expect(timezoneProblem(zone)).toBe(problem);
  });
});

describe('what is due of a schedule', () => {
  const due = (schedule: Partial<Schedule>, now: string, since = '10:00:00') => {
    const { fire, skipped, next } = whatIsDue({ ...hourly, ...schedule }, at(since), at(now));
    const hour = (time: Date | undefined) => time?.toISOString().slice(11, 16);
    return {
      fire: fire.map(hour),
      skipped: skipped.map((one) => [hour(one.at), one.because]),
      next: hour(next),
    };
  };

  test('is the firing that has come, in time', () => {
    expect(due({}, '10:00:10')).toEqual({ fire: ['10:00'], skipped: [], next: '11:00' });
  });

  test('is the last of those that were missed, with catchup: last', () => {
    expect(due({}, '12:30:00')).toEqual({
      fire: ['12:00'],
      skipped: [
        ['10:00', 'replaced'],
        ['11:00', 'replaced'],
      ],
      next: '13:00',
    });
  });

  test('is one firing and not two if the last comes in time', () => {
    expect(due({}, '12:00:30').fire).toEqual(['12:00']);
  });

  test('is each of those that were missed, with catchup: all', () => {
    expect(due({ catchup: 'all' }, '12:30:00').fire).toEqual(['10:00', '11:00', '12:00']);
  });

  test('is none of those that were missed, with catchup: none, and still the one in time', () => {
    expect(due({ catchup: 'none' }, '12:30:00')).toMatchObject({ fire: [], next: '13:00' });
    expect(due({ catchup: 'none' }, '12:00:30')).toMatchObject({
      fire: ['12:00'],
      skipped: [
        ['10:00', 'missed'],
        ['11:00', 'missed'],
      ],
    });
  });

  test('leaves out what is older than the window', () => {
    expect(due({ catchup: 'all', catchupWindowMs: 3_600_000 }, '12:30:00')).toMatchObject({
      fire: ['12:00'],
      skipped: [
        ['10:00', 'too_old'],
        ['11:00', 'too_old'],
      ],
    });
  });

  test('is bounded after years of sleep, and no firing is without a row', () => {
    const { fire, skipped, next } = whatIsDue(
      { ...hourly, schedule: 'every 1m' },
      new Date('2020-01-01T00:00:00Z'),
      at('10:00:00'),
    );
    expect(fire.map((time) => time.toISOString())).toEqual(['2026-03-02T10:00:00.000Z']);
    expect(skipped.length).toBeLessThanOrEqual(101);
    expect(skipped.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(1_000);
    expect(next?.toISOString()).toBe('2026-03-02T10:01:00.000Z');
  });
});
