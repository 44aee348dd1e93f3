import { html } from 'hono/html';
import type { Html } from './layout.ts';
import { said } from './untrusted.ts';

/** A value with its name, as a bar or a column. */
export interface Datum {
  name: string;
  value: number;
}

interface Plot {
  /** What a screen reader says instead of the plot, and the caption of its table. */
  title: string;
  /** The heads of the table's columns. */
  columns: readonly [name: string, value: string];
  data: readonly Datum[];
  /** A value in words. */
  words(value: number): string;
}

const WIDTH = 640;
const ROW = 26;
const NAMES = 200;
const HEIGHT = 180;
const DAY_MS = 86_400_000;

/** Horizontal bars, largest as long as the plot is wide. */
export function barPlot(plot: Plot): Html {
  const most = Math.max(...plot.data.map(({ value }) => value), 1e-9);
  const room = WIDTH - NAMES - 110;
  const height = plot.data.length * ROW;
  return figure(
    plot,
    html`<svg class="plot" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${plot.title}">
${plot.data.map(
  (
    { name, value },
    at,
  ) => html`<text x="${NAMES - 8}" y="${at * ROW + 17}" text-anchor="end">${said(name, 26)}</text>
<rect x="${NAMES}" y="${at * ROW + 4}" width="${Math.max(1, Math.round((value / most) * room))}" height="${ROW - 8}"></rect>
<text x="${NAMES + Math.max(1, Math.round((value / most) * room)) + 6}" y="${at * ROW + 17}">${plot.words(value)}</text>
`,
)}</svg>`,
  );
}

/** Columns over the days of a period, the last of which is today; days without a value stay empty. */
export function dayPlot(plot: Plot & { days: number; today: Date }): Html {
  const { data, days, today, words, title } = plot;
  const most = Math.max(...data.map(({ value }) => value), 1e-9);
  const first = new Date(today.getTime() - (days - 1) * DAY_MS);
  const [from, to] = [dayOf(first), dayOf(today)];
  const step = WIDTH / days;
  const [top, bottom] = [24, HEIGHT - 24];
  return figure(
    plot,
    html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}, from ${from} to ${to}">
<line class="grid" x1="0" x2="${WIDTH}" y1="${top}" y2="${top}"></line>
<text x="0" y="${top - 6}">${words(most)}</text>
${data.map(({ name, value }) => {
  const at = Math.round((Date.parse(name) - Date.parse(from)) / DAY_MS);
  const height = Math.max(2, Math.round((value / most) * (bottom - top)));
  return html`<rect x="${(at * step + step * 0.15).toFixed(1)}" y="${bottom - height}" width="${(step * 0.7).toFixed(1)}" height="${height}"><title>${name}: ${words(value)}</title></rect>\n`;
})}<line x1="0" x2="${WIDTH}" y1="${bottom}" y2="${bottom}"></line>
<text x="0" y="${HEIGHT - 6}">${from}</text>
<text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${to}</text>
</svg>`,
  );
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The plot with its numbers behind it. */
function figure({ title, columns, data, words }: Plot, drawn: Html): Html {
  return html`<figure>
${drawn}
<details><summary>The numbers</summary>
<table><caption>${title}</caption>
<thead><tr><th scope="col">${columns[0]}</th><th scope="col">${columns[1]}</th></tr></thead>
<tbody>
${data.map(({ name, value }) => html`<tr><th scope="row">${said(name, 200)}</th><td>${words(value)}</td></tr>\n`)}</tbody></table>
</details>
</figure>`;
}
