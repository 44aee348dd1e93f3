import { html } from 'hono/html';
import type { HiddenRule } from '../../domain/outcome/learned.ts';
import { listed, plural } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { filterForm, roughly, wide } from './parts.ts';
import { barPlot, type Datum, dayPlot } from './plots.ts';
import { said } from './untrusted.ts';

export const PERIODS = [7, 30, 90] as const;
export type Period = (typeof PERIODS)[number];

/** A median and a 95th percentile, in seconds. */
export interface Spread {
  count: number;
  median: number;
  p95: number;
}

export interface InsightPage {
  period: Period;
  now: Date;
  repository: string;
  repositories: readonly { id: number; name: string }[];
  lead: Spread | undefined;
  /** The median of each day with merges. */
  leadByDay: readonly Datum[];
  /** Steps by the time that they waited, longest first. */
  waited: readonly { step: string; spread: Spread; total: number }[];
  countersigned: readonly Datum[];
  rejected: readonly Datum[];
  fixed: number;
  dismissed: number;
  /** What reviews do not show, because people accepted it; by repository. */
  notShown: readonly (HiddenRule & { repository: string })[];
}

/** Figures over a period. */
export function insightPage(page: InsightPage): Html {
  const { period, now, repository, repositories, lead, leadByDay, waited, fixed, dismissed, notShown } = page;
  const count = (value: number) => String(value);
  return html`<h1>Insight</h1>
${filterForm('/insight', [
  {
    kind: 'choice',
    name: 'days',
    label: 'Period',
    value: String(period),
    standard: '30',
    choices: PERIODS.map((days): [string, string] => [String(days), `the last ${plural(days, 'day')}`]),
  },
  {
    kind: 'choice',
    name: 'repository',
    label: 'Repository',
    value: repository,
    choices: [
      ['', 'all'],
      ...repositories.map(({ id, name }): [string, string] => [String(id), said(name, 100)]),
    ],
  },
])}
<section aria-labelledby="lead"><h2 id="lead">From opened to merged</h2>
${
  lead === undefined
    ? html`<p class="empty">No pull request was merged in this period. Figures begin with the first merge that Countersign makes or sees.</p>`
    : html`<dl class="stats">
<div><dt>Merged</dt><dd>${lead.count}</dd></div>
<div><dt>Median time</dt><dd>${roughly(lead.median)}</dd></div>
<div><dt>The slowest 5 %: at least</dt><dd>${roughly(lead.p95)}</dd></div>
</dl>
<p class="quiet">A pull request counts from when Countersign first saw it. Times are within 5 %, and figures at most a minute old.</p>
${dayPlot({ title: 'Median time from opened to merged, by the day of the merge', columns: ['Day', 'Median'], data: leadByDay, words: roughly, days: period, today: now })}`
}
</section>
<section aria-labelledby="waited"><h2 id="waited">Waiting, by step</h2>
${
  waited.length === 0
    ? html`<p>No step has waited in this period.</p>`
    : html`<p class="quiet">For CI, for people, or until a time. Of steps whose run ended in this period.</p>
${barPlot({ title: 'Time that steps waited, in the median', columns: ['Step', 'Median'], data: waited.map(({ step, spread }) => ({ name: step, value: spread.median })), words: roughly })}
${wide(
  'Time that steps waited',
  html`<table><caption>Time that steps waited</caption>
<thead><tr><th scope="col">Step</th><th scope="col">Times</th><th scope="col">Median</th><th scope="col">95th percentile</th><th scope="col">Together</th></tr></thead>
<tbody>
${waited.map(({ step, spread, total }) => html`<tr><th scope="row">${said(step, 100)}</th><td>${spread.count}</td><td>${roughly(spread.median)}</td><td>${roughly(spread.p95)}</td><td>${roughly(total)}</td></tr>\n`)}</tbody></table>`,
)}`
}
</section>
<section aria-labelledby="people"><h2 id="people">Answers</h2>
<h3>Countersigns by person</h3>
${page.countersigned.length === 0 ? html`<p>Nobody has countersigned in this period.</p>` : barPlot({ title: 'Countersigns by person', columns: ['Person', 'Countersigns'], data: page.countersigned, words: count })}
<h3>Rejections by person</h3>
${page.rejected.length === 0 ? html`<p>Nobody has rejected anything in this period.</p>` : barPlot({ title: 'Rejections by person', columns: ['Person', 'Rejections'], data: page.rejected, words: count })}
</section>
<section aria-labelledby="findings"><h2 id="findings">Findings of reviews</h2>
${
  fixed + dismissed === 0
    ? html`<p>No finding was fixed or dismissed in this period.</p>`
    : html`<p class="quiet">Fixed: a later review found it gone. Dismissed: the pull request was merged with it.</p>
${barPlot({
  title: 'Findings that were fixed, and findings that were dismissed',
  columns: ['What became of them', 'Findings'],
  data: [
    { name: 'fixed', value: fixed },
    { name: 'dismissed', value: dismissed },
  ],
  words: count,
})}`
}
<h3>Not shown, because people mostly accept it</h3>
${
  notShown.length === 0
    ? html`<p>Reviews show all of their findings.</p>`
    : html`<p class="quiet">As of now, as long as those people may countersign. The findings count for the verdict all the same. <code>/countersign forget</code> and the rule, in a comment on a pull request, shows them again.</p>
${wide(
  'Findings that are not shown',
  html`<table><caption>Findings that are not shown</caption>
<thead><tr><th scope="col">Rule</th><th scope="col">Repository</th><th scope="col">Up to</th><th scope="col">Accepted on</th><th scope="col">By</th></tr></thead>
<tbody>
${notShown.map(({ rule, repository, upTo, acceptedOn, foundOn, by }) => html`<tr><th scope="row"><code>${said(rule, 200)}</code></th><td>${said(repository, 140)}</td><td>${upTo}</td><td>${acceptedOn} of ${plural(foundOn, 'pull request')}</td><td>${said(listed(by.slice(0, 5), 'and'), 250)}</td></tr>\n`)}</tbody></table>`,
)}`
}
</section>`;
}
