import { html } from 'hono/html';
import type { ReportOrder, ReportTotals, RepositoryReport, Spread } from '../../domain/run/report.ts';
import { nothingToReport, placeOfDiagnostic } from '../run/report.ts';
import { capital, plural } from '../text/pretty.ts';
import { PERIODS, type Period } from './insight.ts';
import type { Html } from './layout.ts';
import { address, ago, filterForm, nextPage, roughly } from './parts.ts';
import { placeLink, prose, said } from './untrusted.ts';

export interface ReportPage {
  period: Period;
  now: Date;
  order: ReportOrder;
  /** What was asked for, as in the address. */
  owner: string;
  owners: readonly string[];
  text: string;
  totals: ReportTotals;
  /** Those of this page, in its order. */
  reports: readonly RepositoryReport[];
  /** Of this page, from 1. */
  number: number;
  isLast: boolean;
  githubUrl: string;
}

const ORDERS: Readonly<Record<ReportOrder, string>> = {
  attention: 'what needs attention first',
  name: 'name',
  runs: 'most runs',
  failed: 'most failed',
  merged: 'most merged',
  would_merge: 'most that would have merged',
  answered: 'longest wait for an answer',
};

/** How each repository fares, on one line or card each. */
export function reportPage(page: ReportPage): Html {
  const { totals, reports } = page;
  const isFiltered = page.owner !== '' || page.text !== '';
  return html`<h1>Report</h1>
${filterForm('/report', [
  {
    kind: 'choice',
    name: 'days',
    label: 'Period',
    value: String(page.period),
    standard: '30',
    choices: PERIODS.map((days): [string, string] => [String(days), `the last ${plural(days, 'day')}`]),
  },
  {
    kind: 'choice',
    name: 'organisation',
    label: 'Owner',
    value: page.owner,
    choices: [['', 'all'], ...page.owners.map((owner): [string, string] => [owner, said(owner, 100)])],
  },
  {
    kind: 'choice',
    name: 'order',
    label: 'Order',
    value: page.order,
    standard: 'attention',
    choices: Object.entries(ORDERS),
  },
  { kind: 'search', name: 'text', label: 'Name', value: page.text },
])}
${
  totals.repositories === 0
    ? html`<p class="empty">${nothingToReport(isFiltered)}</p>`
    : html`${sums(page)}
<div class="wide" tabindex="0" role="group" aria-label="Repositories"><table class="report" role="table">
<thead role="rowgroup"><tr role="row">${COLUMNS.map(({ words, order }) => html`<th scope="col" role="columnheader"${order === page.order ? html` aria-sort="${order === 'name' ? 'ascending' : 'descending'}"` : ''}>${order && order !== page.order ? html`<a href="${ordered(page, order)}">${words}</a>` : words}</th>`)}</tr></thead>
<tbody role="rowgroup">
${reports.map((report) => row(report, page))}</tbody></table></div>
${nextPage(page.isLast ? undefined : ordered(page, page.order, page.number + 1))}
<p class="quiet">Runs count on the day that they ended. Errors and rollout are those of the default branch when it was last read. Times are within 5 %, and figures at most a minute old.</p>`
}`;
}

function ordered({ period, owner, text }: ReportPage, order: ReportOrder, number = 1): string {
  return address('/report', {
    days: period === 30 ? undefined : String(period),
    organisation: owner,
    order: order === 'attention' ? undefined : order,
    text,
    page: number === 1 ? undefined : String(number),
  });
}

function sums({ totals, now }: ReportPage): Html {
  const { repositories, misconfigured, runs, waiting, answered } = totals;
  return html`<dl class="stats">
<div><dt>Repositories</dt><dd>${repositories}</dd></div>
<div><dt>With errors in their configuration</dt><dd${misconfigured > 0 ? html` class="wrong"` : ''}>${misconfigured}</dd></div>
<div><dt>Questions that are open</dt><dd>${waiting?.count ?? 0}${waiting ? html` <small>oldest: ${ago(waiting.since, now)}</small>` : ''}</dd></div>
<div><dt>Answered, in the median after</dt><dd>${answered ? roughly(answered.median) : '–'}</dd></div>
<div><dt>Runs that merged</dt><dd>${runs.merged}</dd></div>
<div><dt>Runs that would have merged</dt><dd>${runs.would_merge}</dd></div>
</dl>`;
}

const COLUMNS: readonly { words: string; order?: ReportOrder }[] = [
  { words: 'Repository', order: 'name' },
  { words: 'Merged', order: 'merged' },
  { words: 'Would have merged', order: 'would_merge' },
  { words: 'Failed', order: 'failed' },
  { words: 'Writes withheld' },
  { words: 'Done without a merge' },
  { words: 'Stopped' },
  { words: 'Changes requested' },
  { words: 'Waiting now' },
  { words: 'Time to answer', order: 'answered' },
  { words: 'Opened to merged' },
];

function row(report: RepositoryReport, page: ReportPage): Html {
  const { repository, rollout, runs, changesRequested, waiting, answered, merged } = report;
  const name = said(repository, 140);
  return html`<tr role="row"><th scope="row" role="rowheader"><a href="${address('/runs', { repository })}">${name}</a> <span class="state">${rollout.level}</span>${errors(report, page)}</th>
${cell('Merged', count(runs.merged))}
${cell('Would have merged', count(runs.would_merge))}
${cell('Failed', runs.failed === 0 ? count(0) : html`<span class="wrong">${runs.failed}</span>`)}
${cell('Writes withheld', count(runs.withheld))}
${cell('Done without a merge', count(runs.completed))}
${cell('Stopped', count(runs.stopped))}
${cell('Changes requested', count(changesRequested))}
${cell('Waiting now', waiting ? html`${waiting.count} <small>${ago(waiting.since, page.now)}</small>` : count(0), waiting !== undefined)}
${cell('Time to answer', times(answered))}
${cell('Opened to merged', times(merged))}</tr>\n`;
}

function cell(label: string, content: Html, waits = false): Html {
  return html`<td role="cell" data-label="${label}"${waits ? html` class="waits"` : ''}>${content}</td>`;
}

function count(number: number): Html {
  return number === 0 ? html`<span class="quiet">0</span>` : html`${number}`;
}

function times(spread: Spread | undefined): Html {
  if (spread === undefined) return html`<span class="quiet">–</span>`;
  return html`${roughly(spread.median)}${spread.count > 1 ? html` <small>90 %: ${roughly(spread.p90)}</small>` : ''}`;
}

/** The first error with its place, and how many there are. */
function errors({ repository, errors, first }: RepositoryReport, { githubUrl }: ReportPage): Html {
  if (errors === 0) return html``;
  const words = html`<span class="wrong">${plural(errors, 'error')}</span>`;
  if (!first) return html`<p class="error">${words}</p>`;
  const { repository: owner, file, line } = placeOfDiagnostic(repository, first);
  const path = owner === repository ? file : `${owner}: ${file}`;
  const isFile = file.includes('/') && !file.includes(' ');
  const where = isFile
    ? placeLink({ githubUrl, repository: owner, headSha: 'HEAD' }, { file, line })
    : html`<code>${said(path, 200)}</code>`;
  const inOwner = isFile && owner !== repository ? html`${said(owner, 140)}: ` : '';
  return html`<p class="error">${words}: ${inOwner}${where} ${prose(capital(first.message), 120)}</p>`;
}
