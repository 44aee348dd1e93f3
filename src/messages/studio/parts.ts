import { html } from 'hono/html';
import { formatDuration } from '../../core/duration.ts';
import { UNDONE_REASONS } from '../../domain/explanation/reason.ts';
import type { RunStatus } from '../../domain/run/run.ts';
import { plural, utc } from '../text/pretty.ts';
import type { Html } from './layout.ts';

/** What the pages of Studio share. */

const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

/** `3 days`, of the largest unit that fits; for text, where exact seconds would not help. */
export function roughly(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  for (const [size, name] of UNITS) {
    const count = Math.floor(whole / size);
    if (count >= (name === 'day' ? 2 : 1)) return plural(count, name);
  }
  return plural(whole, 'second');
}

/** A moment, in UTC, as people and programs read it. */
export function time(moment: Date): Html {
  return html`<time datetime="${moment.toISOString()}">${utc(moment)}</time>`;
}

/** To the second, for lists of what happened. */
export function exactTime(moment: Date): Html {
  return html`<time datetime="${moment.toISOString()}">${moment.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;
}

/** A table that scrolls on a narrow screen, instead of the page. */
export function wide(name: string, table: Html): Html {
  return html`<div class="wide" tabindex="0" role="group" aria-label="${name}">${table}</div>`;
}

/** How long something took: `2 h 5 min`. */
export function duration(ms: number): Html {
  return html`<span class="duration">${formatDuration(Math.max(0, ms))}</span>`;
}

/** How long ago something was. The exact time is in the element. */
export function ago(moment: Date, now: Date): Html {
  const seconds = (now.getTime() - moment.getTime()) / 1_000;
  return html`<time datetime="${moment.toISOString()}" title="${utc(moment)}">${roughly(Math.max(0, seconds))} ago</time>`;
}

export const RUN_STATUS_WORDS: Readonly<Record<RunStatus, string>> = {
  running: 'running',
  waiting_ci: 'waiting for CI',
  waiting_approval: 'waiting for a countersign',
  waiting_until: 'waiting to try again',
  completed: 'done',
  failed: 'failed',
  timed_out: 'took too long',
  aborted: 'stopped by GitHub',
  cancelled: 'cancelled',
};

/**
 * The status of a run in words, with a colour beside them. A run that completed did not always do what it is for.
 * @param reasonCode of the run's end; `null` if it is not known
 */
export function runState(status: RunStatus, reasonCode: string | null): Html {
  if (status !== 'completed') return html`<span class="state ${status}">${RUN_STATUS_WORDS[status]}</span>`;
  if (reasonCode === null) return html`<span class="state">${RUN_STATUS_WORDS.completed}</span>`;
  return UNDONE_REASONS.some((code) => code === reasonCode)
    ? html`<span class="state undone">did not pass</span>`
    : html`<span class="state completed">${RUN_STATUS_WORDS.completed}</span>`;
}

/** An address on this server with a query string, without the parameters that are empty. */
export function address(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A field of a form that filters a list. `standard`: its value where nobody chose one, empty if absent. */
export type FilterField = { name: string; label: string; value: string; standard?: string } & (
  | { kind: 'text' | 'search' }
  | { kind: 'choice'; choices: readonly (readonly [value: string, words: string])[] }
);

/** A form whose whole state is in the address of the page that it opens. */
export function filterForm(
  path: string,
  fields: readonly FilterField[],
  kept: Readonly<Record<string, string | undefined>> = {},
): Html {
  const isUsed = fields.some(({ value, standard = '' }) => value !== standard);
  return html`<form class="filters" method="get" action="${path}" role="search">
${Object.entries(kept).map(([name, value]) => (value ? html`<input type="hidden" name="${name}" value="${value}">\n` : ''))}${fields.map(filterField)}<button>Filter</button>${isUsed ? html` <a href="${address(path, kept)}">Clear the filters</a>` : ''}
</form>`;
}

function filterField(field: FilterField): Html {
  const { name, label, value } = field;
  if (field.kind !== 'choice')
    return html`<label>${label} <input type="${field.kind}" name="${name}" value="${value}" autocomplete="off"></label>\n`;
  return html`<label>${label} <select name="${name}">
${field.choices.map(([given, words]) => html`<option value="${given}"${given === value ? html` selected` : ''}>${words}</option>\n`)}</select></label>\n`;
}

/** Where a list goes on. */
export function nextPage(href: string | undefined): Html | '' {
  return href === undefined
    ? ''
    : html`<nav class="pager" aria-label="Further pages"><a rel="next" href="${href}">Next page</a></nav>`;
}

/** Of a table: more would take a browser long, and nobody reads them. */
const MOST_ROWS = 200;

/** A table that scrolls on narrow screens, named by its columns. */
export function dataTable(
  columns: readonly string[],
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  return html`<div class="wide" tabindex="0" role="group" aria-label="${columns.join(', ')}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.slice(0, MOST_ROWS).map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table></div>${
    rows.length > MOST_ROWS
      ? html`<p class="quiet">Only the first ${MOST_ROWS} of ${rows.length} are listed.</p>`
      : ''
  }`;
}
