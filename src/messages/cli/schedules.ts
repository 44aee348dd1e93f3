import { plainLine } from '../../domain/run/explain.ts';
import type { Firing, ScheduleRow } from '../../ports/firings.ts';
import { plural, utc } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

/** `chain check`: what was evaluated, and each firing with what became of it. */
export function checked(
  evaluated: number,
  firings: readonly Firing[],
  next: Date | undefined,
  now: Date,
): string {
  const lines = firings.map(
    ({ chain, repository, summary, dueAt }) =>
      `${chain} of ${plainLine(repository)}: ${summary === null ? `fires for ${utc(dueAt)}` : plainLine(summary)}`,
  );
  const due = `${utc(now)}: ${plural(evaluated, 'schedule')} due.`;
  const after = next ? ` The next is due ${utc(next)}.` : ' No chain has a schedule.';
  return [...lines, `${due}${after}`].join('\n');
}

/** `chain daemon`, when it stops. */
export function daemonStopped(firings: number): string {
  return `Stopped after ${plural(firings, 'firing')}.`;
}

/** `chain schedules`: when chains fire next, and the newest firings. */
export function scheduleTable(
  rows: readonly ScheduleRow[],
  firings: readonly Firing[],
  screen: Screen = PLAIN,
): string {
  const upcoming =
    rows.length === 0
      ? 'No chain has a schedule.'
      : table(
          ['CHAIN', 'REPOSITORY', 'SCHEDULE', 'NEXT'],
          rows.map(({ chain, repository, trigger, nextAt }) => [
            chain,
            plainLine(repository),
            trigger,
            utc(nextAt),
          ]),
          { screen },
        );
  if (firings.length === 0) return upcoming;
  const past = table(
    ['CHAIN', 'REPOSITORY', 'DUE', 'STATUS', 'RUN OR REASON'],
    firings.map(({ chain, repository, dueAt, status, summary, runId }) => [
      chain,
      plainLine(repository),
      utc(dueAt),
      status,
      summary === null ? runId : plainLine(summary),
    ]),
    { screen },
  );
  return `${upcoming}\n\n${past}`;
}
