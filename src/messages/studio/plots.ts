import { html } from 'hono/html';
import type { Html } from './layout.ts';
import { said } from './untrusted.ts';

/** A value with its name, as a bar or a point. */
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

/** A line over days, with the largest value at its top. */
export function linePlot(plot: Plot): Html {
  const most = Math.max(...plot.data.map(({ value }) => value), 1e-9);
  const step = plot.data.length < 2 ? 0 : (WIDTH - 20) / (plot.data.length - 1);
  const points = plot.data.map(
    ({ value }, at) =>
      [Math.round(10 + at * step), Math.round(HEIGHT - 24 - (value / most) * (HEIGHT - 50))] as const,
  );
  const [first, last] = [plot.data[0]?.name ?? '', plot.data.at(-1)?.name ?? ''];
  return figure(
    plot,
    html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${plot.title}">
<line x1="10" x2="${WIDTH - 10}" y1="${HEIGHT - 24}" y2="${HEIGHT - 24}"></line>
<polyline points="${points.map((point) => point.join()).join(' ')}"></polyline>
${points.map(([x, y]) => html`<circle cx="${x}" cy="${y}" r="3"></circle>`)}
<text x="10" y="14">${plot.words(most)}</text>
<text x="10" y="${HEIGHT - 6}">${first}</text>
<text x="${WIDTH - 10}" y="${HEIGHT - 6}" text-anchor="end">${last}</text>
</svg>`,
  );
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
