import { Cron } from 'croner';
import { notAllowed } from '../../core/diagnostic.ts';
import { parseDuration } from '../../core/duration.ts';
import type { Schedule } from './trigger-schema.ts';

const EVERY = /^every (\d{1,4}[mhd])$/;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 366 * 24 * 3_600_000;

/** What most schedules use. Nothing about it is asked of `Intl`, whose data of zones takes 5 ms and memory to load. */
const UTC = 'UTC';

/** Any time before which no schedule has to fire, so that lint does not depend on the day. */
const REFERENCE = new Date('2024-01-01T00:00:00Z');

/** Why a schedule cannot be used; `undefined` if it can. */
export function scheduleProblem(written: string): string | undefined {
  const when = written.trim().replace(/\s+/g, ' ');
  if (when.startsWith('every')) {
    const ms = periodOf(when);
    return ms === undefined || ms < SHORTEST_MS || ms > LONGEST_MS
      ? '"every" needs a number and a unit, from "every 1m" to "every 366d"'
      : undefined;
  }
  // croner replaces "?" by the moment at which it reads the pattern, and knows nicknames such as @daily.
  if (when.split(' ').length !== 5 || /[?@]/.test(when))
    return 'a schedule is five fields of cron (minute, hour, day of the month, month, day of the week), such as "0 6 * * 1-5", or "every 6h"';
  try {
    return cronOf(when, UTC).nextRun(REFERENCE) === null
      ? `"${when}" never fires: no date matches it`
      : undefined;
  } catch (error) {
    return `"${when}" is no schedule of cron: ${reasonOf(error)}`;
  }
}

/** croner does not check the zone when it reads a pattern, and then fails at the first evaluation. */
export function timezoneProblem(timezone: string): string | undefined {
  if (timezone === UTC || (/^[A-Za-z]/.test(timezone) && isZone(timezone))) return undefined;
  const zones = [UTC, ...Intl.supportedValuesOf('timeZone')];
  const meant = notAllowed('', zones, timezone).match(/did you mean "([^"]+)"/)?.[1];
  return `there is no time zone "${timezone}"${meant === undefined ? '; write one such as Europe/Berlin or UTC' : `: did you mean "${meant}"?`}`;
}

function isZone(timezone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // Of days and months, croner names its own count, which begins with 0.
  return text
    .replace(/^CronPattern: /, '')
    .replace(
      /^(Invalid value for (?:day|month)): (-?\d+)$/,
      (_, what, value) => `${what}: ${Number(value) + 1}`,
    );
}

/**
 * The first time after another at which a schedule fires; `undefined` if it never does again. `every 6h` counts from
 * midnight UTC of 1970-01-01, so its times do not depend on when it was written.
 */
export function nextAfter(
  { schedule, timezone }: Pick<Schedule, 'schedule' | 'timezone'>,
  at: Date,
): Date | undefined {
  const period = periodOf(schedule);
  if (period !== undefined) return new Date((Math.floor(at.getTime() / period) + 1) * period);
  return cronOf(schedule, timezone).nextRun(at) ?? undefined;
}

function periodOf(schedule: string): number | undefined {
  const [, length] = EVERY.exec(schedule.trim().replace(/\s+/g, ' ')) ?? [];
  return length === undefined ? undefined : parseDuration(length);
}

const known = new Map<string, Cron>();
const MAX_KNOWN = 2_000;

/** Reading a pattern takes longer than evaluating it. */
function cronOf(schedule: string, timezone: string): Cron {
  const key = `${schedule} ${timezone}`;
  const zone = timezone === UTC ? { utcOffset: 0 } : { timezone };
  const found = known.get(key) ?? new Cron(schedule, { mode: '5-part', ...zone, paused: true });
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, found);
  return found;
}

/** A firing that comes this late, in milliseconds, still counts as in time. */
const IN_TIME_MS = 90_000;
/** The most firings of one evaluation that get a row each. Those before them share one. */
const MAX_LISTED = 100;
/** The most firings that one evaluation counts. */
const MAX_COUNTED = 1_000;

export interface Due {
  /** What fires now, oldest first. */
  fire: Date[];
  skipped: { at: Date; count: number; because: 'missed' | 'replaced' | 'too_old' }[];
  /** `undefined`: never again. */
  next: Date | undefined;
}

/**
 * What to do about a schedule whose next firing has come. Firings that nobody evaluated in time were missed: `catchup`
 * says which of them still fire.
 * @param since the first firing that has not been evaluated
 */
export function whatIsDue(schedule: Schedule, since: Date, now: Date): Due {
  const times: Date[] = [];
  let uncounted = 0;
  let at: Date | undefined = since;
  while (at && at <= now && times.length < MAX_COUNTED) {
    times.push(at);
    at = nextAfter(schedule, at);
  }
  if (at && at <= now) {
    // Further ones are not counted one by one, because a schedule may have slept for years.
    uncounted = 1;
    at = nextAfter(schedule, new Date(now.getTime() - IN_TIME_MS));
    while (at && at <= now) {
      times.push(at);
      at = nextAfter(schedule, at);
    }
  }
  const newest = times.at(-1);
  const isInTime = newest && now.getTime() - newest.getTime() <= IN_TIME_MS;
  const onTime = isInTime ? [newest] : [];
  const missed = isInTime ? times.slice(0, -1) : times;
  const isRecent = (time: Date) => now.getTime() - time.getTime() <= schedule.catchupWindowMs;
  const { fire, rest } = caughtUp(schedule, missed.filter(isRecent), onTime);
  const because = schedule.catchup === 'none' ? 'missed' : 'replaced';
  const skipped = [
    ...missed.filter((time) => !isRecent(time)).map((time) => ({ time, because: 'too_old' as const })),
    ...rest.map((time) => ({ time, because: because as 'missed' | 'replaced' })),
  ];
  return { fire, skipped: listed(skipped, uncounted), next: at };
}

/** The most missed firings that `catchup: all` fires at once; older ones count as replaced. */
const MAX_CAUGHT_UP = 100;

function caughtUp({ catchup }: Schedule, missed: Date[], onTime: Date[]): { fire: Date[]; rest: Date[] } {
  switch (catchup) {
    case 'none':
      return { fire: onTime, rest: missed };
    case 'last': {
      const last = onTime.length > 0 ? [] : missed.slice(-1);
      return { fire: [...last, ...onTime], rest: missed.slice(0, missed.length - last.length) };
    }
    case 'all': {
      const kept = missed.slice(-MAX_CAUGHT_UP);
      return { fire: [...kept, ...onTime], rest: missed.slice(0, missed.length - kept.length) };
    }
  }
}

function listed(
  skipped: readonly { time: Date; because: Due['skipped'][number]['because'] }[],
  uncounted: number,
): Due['skipped'] {
  const own = skipped.slice(-MAX_LISTED);
  const together = skipped.slice(0, skipped.length - own.length);
  const [first] = together;
  const rows = own.map(({ time, because }) => ({ at: time, count: 1, because }));
  return first
    ? [{ at: first.time, count: together.length + uncounted, because: first.because }, ...rows]
    : rows;
}
