import { z } from 'zod';

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type Weekday = (typeof WEEKDAYS)[number];

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2})?$/;
const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const when = z
  .string()
  .refine((text) => TIME_OF_DAY.test(text) || (MOMENT.test(text) && isRealMoment(text)), {
    error: 'a time is a date (2026-12-20), a date with a time (2026-12-20T18:00) or a time of day (18:00)',
  });

/** A period during which a criterion does not pass. */
export const freezeSchema = z.strictObject({
  from: when.describe('A date, a date with a time, or a time of day.'),
  until: when.describe(
    'Of the same kind as "from". A date lasts until its end; a time is the first that is free again.',
  ),
  reason: z.string().min(1).max(500).describe('What people read while it lasts.'),
  time_zone: z
    .string()
    .max(64)
    .refine(isTimeZone, { error: 'a time zone has a name such as Europe/Berlin or UTC' })
    .optional()
    .describe('Where the clock hangs; UTC when left out.'),
  days: z.array(z.enum(WEEKDAYS)).min(1).max(7).optional().describe('Only on these days of the week.'),
});
export type Freeze = z.infer<typeof freezeSchema>;

/** Why the two ends do not make a period, or `undefined` if they do. */
export function freezeDiagnostic({ from, until }: Pick<Freeze, 'from' | 'until'>): string | undefined {
  if (TIME_OF_DAY.test(from) !== TIME_OF_DAY.test(until))
    return '"from" and "until" must both be dates or both be times of day';
  if (TIME_OF_DAY.test(from))
    return from === until ? '"until" must be another time of day than "from"' : undefined;
  return startOf(from) < endOf(until) ? undefined : '"until" must come after "from"';
}

/**
 * Whether the freeze applies at a moment, and until when in its own time zone. Local times are compared as
 * text. Rejected: converting them to moments, which is ambiguous in the hour that occurs twice when summer
 * time ends.
 *
 * A time of day whose end is before its start continues into the next day. `days` names the day on which it
 * starts.
 */
export function freezeAt(freeze: Freeze, now: Date): { frozen: boolean; until: string } {
  const clock = wallClock(now, freeze.time_zone ?? 'UTC');
  const appliesOn = (day: Weekday) => freeze.days === undefined || freeze.days.includes(day);
  if (!TIME_OF_DAY.test(freeze.from)) {
    const local = `${clock.date}T${clock.time}`;
    const inside = local >= startOf(freeze.from) && local < endOf(freeze.until);
    return { frozen: inside && appliesOn(clock.day), until: freeze.until };
  }
  const { from, until } = freeze;
  const previousDay = WEEKDAYS[(WEEKDAYS.indexOf(clock.day) + 6) % 7] ?? 'sun';
  const frozen =
    from < until
      ? appliesOn(clock.day) && clock.time >= from && clock.time < until
      : (appliesOn(clock.day) && clock.time >= from) || (appliesOn(previousDay) && clock.time < until);
  return { frozen, until };
}

/**
 * A bare date means its first minute for the start, and the end of the day for the end: `T24:00` sorts after
 * every time.
 */
const startOf = (text: string) => (text.includes('T') ? text : `${text}T00:00`);
const endOf = (text: string) => (text.includes('T') ? text : `${text}T24:00`);

function wallClock(now: Date, timeZone: string): { date: string; time: string; day: Weekday } {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    weekday: 'short',
  });
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const day = WEEKDAYS.find((name) => name === parts.weekday?.toLowerCase());
  if (!day) throw new Error(`the day of the week of ${now.toISOString()} is not known`);
  return { date: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}`, day };
}

function isRealMoment(text: string): boolean {
  const moment = new Date(`${startOf(text)}:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
