import type { QuietHours } from '../chain/settings.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Longer than any quiet time: a weekend between two nights. */
const MAX_HOURS = 8 * 24;

/**
 * The first moment from `at` on that is not quiet; `at` itself if it is not. It moves by an hour at most and
 * reads the clock of the time zone again, because a day there can have 23 or 25 hours.
 */
export function endOfQuiet(quiet: QuietHours | undefined, at: Date): Date {
  if (!quiet) return at;
  const read = clockOf(quiet.time_zone);
  let moment = at;
  for (let hours = 0; hours < MAX_HOURS; hours++) {
    const left = minutesLeft(quiet, read(moment));
    if (left === 0) return moment;
    const minute = Math.floor(moment.getTime() / MINUTE_MS);
    moment = new Date((minute + Math.min(left, 60)) * MINUTE_MS);
  }
  return moment;
}

interface LocalTime {
  isWeekend: boolean;
  /** Since midnight. */
  minutes: number;
}

/** How many minutes are left until it may be over; 0 if it is not quiet. */
function minutesLeft({ from, to, weekends }: QuietHours, { isWeekend, minutes }: LocalTime): number {
  if (weekends && isWeekend) return DAY_MINUTES - minutes;
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const isQuiet = start < end ? minutes >= start && minutes < end : minutes >= start || minutes < end;
  return isQuiet ? (end - minutes + DAY_MINUTES) % DAY_MINUTES : 0;
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

function clockOf(timeZone: string): (at: Date) => LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const weekday = parts.get('weekday');
    return {
      isWeekend: weekday === 'Sat' || weekday === 'Sun',
      minutes: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
    };
  };
}
