import { formatDuration } from '../../core/duration.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { ReportTotals, RepositoryReport } from '../../domain/run/report.ts';
import { NOTHING_TO_REPORT, placeOfDiagnostic } from '../run/report.ts';
import { plural } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { diagnosticLines } from './diagnostics.ts';
import { table } from './table.ts';

/** The most repositories whose first error is listed below the table. */
const MAX_ERRORS = 20;

/** `report`: a line for each repository, the errors of their configurations, and the sums. */
export function reportText(
  reports: readonly RepositoryReport[],
  totals: ReportTotals,
  { since, now, isFiltered }: { since: Date; now: Date; isFiltered: boolean },
  screen: Screen = PLAIN,
): string {
  if (reports.length === 0)
    return isFiltered ? `No such repository is known. ${NOTHING_TO_REPORT}` : NOTHING_TO_REPORT;
  const rows = reports.map((report) => cellsOf(report, now));
  return [table(COLUMNS, rows, { screen }), ...errorsIn(reports), totalsInWords(totals, since, now)].join(
    '\n\n',
  );
}

const COLUMNS = [
  { heading: 'REPOSITORY', keeps: 'end' as const },
  'ROLLOUT',
  { heading: 'ERRORS', meaning: () => 'bad' as const },
  'MERGED',
  'WOULD MERGE',
  { heading: 'FAILED', leftOut: 1 },
  { heading: 'CHANGES', leftOut: 4 },
  { heading: 'NO MERGE', leftOut: 3 },
  { heading: 'STOPPED', leftOut: 5 },
  'ANSWER',
  { heading: '90 %', leftOut: 2 },
  { heading: 'OPEN', meaning: () => 'waiting' as const },
];

function cellsOf(report: RepositoryReport, now: Date): string[] {
  const { runs, answered, waiting, errors, rollout, changesRequested } = report;
  const count = (number: number) => (number === 0 ? '' : String(number));
  const time = (seconds: number | undefined) =>
    seconds === undefined ? '' : formatDuration(seconds * 1_000);
  return [
    report.repository,
    rollout.level,
    count(errors),
    count(runs.merged),
    count(runs.would_merge),
    count(runs.failed),
    count(changesRequested),
    count(runs.completed + runs.withheld),
    count(runs.stopped),
    time(answered?.median),
    time(answered?.p90),
    waiting
      ? `${waiting.count}, ${formatDuration(Math.max(0, now.getTime() - waiting.since.getTime()))}`
      : '',
  ];
}

function errorsIn(reports: readonly RepositoryReport[]): string[] {
  const broken = reports.filter(({ errors }) => errors > 0);
  if (broken.length === 0) return [];
  const lines = broken.slice(0, MAX_ERRORS).flatMap(({ repository, first, errors }) => {
    if (!first) return [`  ${plainLine(repository)}: ${plural(errors, 'error')}`];
    const { repository: inRepository, file } = placeOfDiagnostic(repository, first);
    const more = errors > 1 ? ` (and ${plural(errors - 1, 'more error', 'more errors')})` : '';
    const [line = ''] = diagnosticLines([{ ...first, file }]);
    const where = inRepository === repository ? '' : `${plainLine(inRepository)}: `;
    return [`  ${plainLine(repository)}: ${where}${line}${more}`];
  });
  const left = broken.length - MAX_ERRORS;
  const more = left > 0 ? [`  and ${plural(left, 'more repository', 'more repositories')}`] : [];
  return [['Errors in configurations, as last read:', ...lines, ...more].join('\n')];
}

function totalsInWords(totals: ReportTotals, since: Date, now: Date): string {
  const { repositories, misconfigured, runs, answered, waiting } = totals;
  const many = `${plural(repositories, 'repository', 'repositories')}, of which ${misconfigured} ${misconfigured === 1 ? 'has' : 'have'} errors.`;
  const ended = `Since ${since.toISOString().slice(0, 10)}: ${runs.merged} merged, ${runs.would_merge} would have merged, ${runs.failed} failed.`;
  const people = answered
    ? ` People answered ${plural(answered.count, 'question')}, half of them within ${formatDuration(answered.median * 1_000)}.`
    : '';
  const open = waiting
    ? ` ${plural(waiting.count, 'question')} ${waiting.count === 1 ? 'is' : 'are'} open, the oldest for ${formatDuration(Math.max(0, now.getTime() - waiting.since.getTime()))}.`
    : '';
  return `${many} ${ended}${people}${open}`;
}
