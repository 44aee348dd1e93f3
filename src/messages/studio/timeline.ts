import { html } from 'hono/html';
import { formatDuration } from '../../core/duration.ts';
import {
  type Bar,
  position,
  type SegmentKind,
  type Stretch,
  type Timeline,
  totals,
} from '../../domain/run/timeline.ts';
import { clip } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { duration } from './parts.ts';
import { said } from './untrusted.ts';

const SEGMENT_WORDS: Readonly<Record<SegmentKind, string>> = {
  working: 'worked',
  waiting: 'waited',
  person: 'waited for a person',
  unknown: 'not known in detail',
};

const NAMES = 150;
const BARS = 640;
const ROW = 30;
const HEAD = 22;
/** So that a short segment can be seen. */
const THINNEST = 3;

/**
 * When each step worked and when it waited, as SVG with a table of the same.
 * @param address of the page with this step selected
 */
export function timelineFigure(
  { bars, axis, from, to }: Timeline,
  { address, selected }: { address: (stepId: string) => string; selected: string | undefined },
): Html {
  const height = HEAD + bars.length * ROW + 4;
  const shortened = axis.filter(({ compressed }) => compressed);
  return html`<div class="wide" tabindex="0" role="group" aria-label="Timeline; the table below says the same">
<svg class="timeline" width="${NAMES + BARS + 10}" height="${height}" viewBox="0 0 ${NAMES + BARS + 10} ${height}">
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="seg person" width="6" height="6"/><line class="stripe" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>
${shortened.map((stretch) => gap(stretch, height))}
${bars.map((bar, row) => barRow(bar, row, axis, address, selected))}
</svg>
</div>
<p class="legend"><span><svg width="24" height="12" aria-hidden="true"><rect class="seg working" width="24" height="12"/></svg> worked</span>
<span><svg width="24" height="12" aria-hidden="true"><rect class="seg waiting" y="4" width="24" height="4"/></svg> waited</span>
<span><svg width="24" height="12" aria-hidden="true"><rect class="seg person-edge" fill="url(#hatch)" width="24" height="12"/></svg> waited for a person</span></p>
<p class="quiet">${duration(to - from)} in all.${
    shortened.length === 0
      ? ''
      : ` Time in which nothing worked is drawn shorter than it took: ${shortened
          .slice(0, 5)
          .map((stretch) => formatDuration(stretch.to - stretch.from))
          .join(', ')}${shortened.length > 5 ? ` and ${shortened.length - 5} more` : ''}.`
  }</p>
<details><summary>The timeline as a table</summary>
<table><thead><tr><th scope="col">Step</th>${(['working', 'waiting', 'person'] as const).map((kind) => html`<th scope="col">${SEGMENT_WORDS[kind]}</th>`)}</tr></thead>
<tbody>${bars.map((bar) => {
    const sums = totals(bar);
    return html`<tr><th scope="row">${said(bar.step.stepId, 60)}</th>${(['working', 'waiting', 'person'] as const).map((kind) => html`<td>${sums[kind] === 0 ? '–' : formatDuration(sums[kind])}</td>`)}</tr>\n`;
  })}</tbody></table></details>`;
}

function gap({ at, width, from, to }: Stretch, height: number): Html {
  const x = NAMES + at * BARS;
  return html`<g class="gap"><rect x="${x.toFixed(1)}" y="0" width="${(width * BARS).toFixed(1)}" height="${height}"/><text class="small" x="${(x + (width * BARS) / 2).toFixed(1)}" y="14" text-anchor="middle">${formatDuration(to - from)}</text></g>\n`;
}

function barRow(
  bar: Bar,
  row: number,
  axis: readonly Stretch[],
  address: (stepId: string) => string,
  selected: string | undefined,
): Html {
  const { stepId } = bar.step;
  const y = HEAD + row * ROW;
  const sums = Object.entries(totals(bar)).filter(([, ms]) => ms > 0);
  const words = sums
    .map(([kind, ms]) => `${SEGMENT_WORDS[kind as SegmentKind]} ${formatDuration(ms)}`)
    .join(', ');
  return html`<a href="${address(stepId)}" aria-label="${said(stepId, 60)}: ${words === '' ? 'not begun' : words}"${stepId === selected ? html` class="selected"` : ''}><title>${said(stepId, 60)}: ${words === '' ? 'not begun' : words}</title><rect class="row" x="0" y="${y}" width="${NAMES + BARS + 10}" height="${ROW}"/><text x="6" y="${y + 20}">${clip(said(stepId, 60), 17)}</text>${bar.segments.map(
    ({ kind, from, to }) => {
      const x = NAMES + position(axis, from) * BARS;
      const width = Math.max(THINNEST, NAMES + position(axis, to) * BARS - x);
      const isThin = kind === 'waiting' || kind === 'unknown';
      return html`<rect class="seg ${kind === 'person' ? 'person-edge' : kind}"${kind === 'person' ? html` fill="url(#hatch)"` : ''} x="${x.toFixed(1)}" y="${y + (isThin ? 12 : 6)}" width="${width.toFixed(1)}" height="${isThin ? 6 : 18}"/>`;
    },
  )}</a>\n`;
}
