import { formatDuration } from '../../core/duration.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { ReportTotals, RepositoryReport } from '../../domain/run/report.ts';
import { nothingToReport, placeOfDiagnostic } from '../run/report.ts';
import { plural } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { diagnosticLines } from './diagnostics.ts';
import { table } from './table.ts';

/** The most errors that are listed below the table. */
const MAX_ERRORS = 20;

/** `report`: a line for each repository, the errors of their configurations, and the sums. */
export function reportText(
  reports: readonly RepositoryReport[],
  totals: ReportTotals,
  { since, now, isFiltered }: { since: Date; now: Date; isFiltered: boolean },
  screen: Screen = PLAIN,
): string {
  if (reports.length === 0) return nothingToReport(isFiltered);
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

/** The first error of each repository; one that many have, in a file of their organisation, only once. */
function errorsIn(reports: readonly RepositoryReport[]): string[] {
  const found = reports.flatMap(({ repository, first, errors }) => {
    if (!first) return [];
    const place = placeOfDiagnostic(repository, first);
    const [line = ''] = diagnosticLines([{ ...first, file: place.file }]);
    return [{ line: `${plainLine(place.repository)}: ${line}`, others: errors - 1 }];
  });
  if (found.length === 0) return [];
  const groups = [...Map.groupBy(found, ({ line }) => line)];
  const lines = groups.slice(0, MAX_ERRORS).map(([line, same]) => {
    const others = Math.max(...same.map((one) => one.others));
    const also = [
      ...(others > 0 ? [`and ${plural(others, 'more error')}`] : []),
      ...(same.length > 1 ? [`in ${plural(same.length, 'repository', 'repositories')}`] : []),
    ];
    return `  ${line}${also.length > 0 ? ` (${also.join(', ')})` : ''}`;
  });
  const left = groups.length - MAX_ERRORS;
  const more = left > 0 ? [`  and ${plural(left, 'more error')}, which --json lists`] : [];
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
