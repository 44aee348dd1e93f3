import { expect, it } from 'vitest';
import { endOfQuiet } from '../../../src/domain/run/quiet-hours.ts';

const NIGHT = { from: '18:00', to: '08:00', time_zone: 'Europe/Berlin', weekends: false };

it.each([
  ['a moment outside stays', NIGHT, '2026-03-02T09:00:30.000Z', '2026-03-02T09:00:30.000Z'],
  ['an evening lasts until the morning', NIGHT, '2026-03-02T20:15:30.000Z', '2026-03-03T07:00:00.000Z'],
  ['the end itself is not quiet', NIGHT, '2026-03-03T07:00:00.000Z', '2026-03-03T07:00:00.000Z'],
  [
    'the night in which summer time begins is an hour shorter',
    NIGHT,
    '2026-03-28T20:00:00.000Z',
    '2026-03-29T06:00:00.000Z',
  ],
  [
    'the night in which it ends is an hour longer',
    NIGHT,
    '2026-10-24T20:00:00.000Z',
    '2026-10-25T07:00:00.000Z',
  ],
  [
    'a weekend between two nights lasts until Monday morning',
    { ...NIGHT, weekends: true },
    '2026-03-06T18:00:00.000Z',
    '2026-03-09T07:00:00.000Z',
  ],
  [
    'hours within a day',
    { ...NIGHT, from: '12:00', to: '13:00', time_zone: 'Asia/Kathmandu' },
    '2026-03-02T06:30:00.000Z',
    '2026-03-02T07:15:00.000Z',
  ],
])('%s', (_, quiet, at, end) => {
  expect(endOfQuiet(quiet, new Date(at)).toISOString()).toBe(end);
});

it('without quiet hours, no moment is quiet', () => {
  const at = new Date('2026-03-07T03:00:00.000Z');
  expect(endOfQuiet(undefined, at)).toBe(at);
});
