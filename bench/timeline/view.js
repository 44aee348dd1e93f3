import { html } from 'htm/preact';
import { render } from 'preact';

/**
 * The timeline of a run drawn in the browser, by preact and htm: the runner-up to `messages/studio/timeline.ts`, and with the same content.
 * It is bundled for the browser by `main.ts` and measured there.
 */

const SEGMENT_WORDS = {
  working: 'worked',
  waiting: 'waited',
  person: 'waited for a person',
  unknown: 'not known in detail',
};
const KINDS = ['working', 'waiting', 'person'];

const NAMES = 150;
const BARS = 640;
const ROW = 30;
const HEAD = 22;
const THINNEST = 3;

/** Of our own here: `core/duration.ts` loads what a browser has not. */
function formatDuration(ms) {
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return shown.length === 0 ? '0 s' : shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

function Figure({ bars, shortened, ms }) {
  const height = HEAD + bars.length * ROW + 4;
  return html`<div class="wide" tabindex="0" role="group" aria-label="Timeline; the table below says the same">
<svg class="timeline" width=${NAMES + BARS + 10} height=${height} viewBox=${`0 0 ${NAMES + BARS + 10} ${height}`}>
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="seg person" width="6" height="6"/><line class="stripe" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>
${shortened.map((stretch) => html`<${Gap} stretch=${stretch} height=${height} />`)}
${bars.map((bar, row) => html`<${BarRow} bar=${bar} row=${row} />`)}
</svg></div>
<p class="legend"><span><svg width="24" height="12" aria-hidden="true"><rect class="seg working" width="24" height="12"/></svg> worked</span>
<span><svg width="24" height="12" aria-hidden="true"><rect class="seg waiting" y="4" width="24" height="4"/></svg> waited</span>
<span><svg width="24" height="12" aria-hidden="true"><rect class="seg person-edge" fill="url(#hatch)" width="24" height="12"/></svg> waited for a person</span></p>
<p class="quiet">${formatDuration(ms)} in all.${
    shortened.length === 0
      ? ''
      : ` Time in which nothing worked is drawn shorter than it took: ${shortened
          .slice(0, 5)
          .map((stretch) => formatDuration(stretch.ms))
          .join(', ')}${shortened.length > 5 ? ` and ${shortened.length - 5} more` : ''}.`
  }</p>
<details><summary>The timeline as a table</summary>
<table><thead><tr><th scope="col">Step</th>${KINDS.map((kind) => html`<th scope="col">${SEGMENT_WORDS[kind]}</th>`)}</tr></thead>
<tbody>${bars.map(
    ({ name, sums }) =>
      html`<tr><th scope="row">${name}</th>${KINDS.map((kind) => html`<td>${sums[kind] === 0 ? '–' : formatDuration(sums[kind])}</td>`)}</tr>`,
  )}</tbody></table></details>`;
}

function Gap({ stretch: { at, width, ms }, height }) {
  const x = NAMES + at * BARS;
  return html`<g class="gap"><rect x=${x} y="0" width=${width * BARS} height=${height}/><text class="small" x=${x + (width * BARS) / 2} y="14" text-anchor="middle">${formatDuration(ms)}</text></g>`;
}

function BarRow({ bar, row }) {
  const y = HEAD + row * ROW;
  const sums = Object.entries(bar.sums).filter(([, ms]) => ms > 0);
  const words = sums.map(([kind, ms]) => `${SEGMENT_WORDS[kind]} ${formatDuration(ms)}`).join(', ');
  const label = `${bar.name}: ${words === '' ? 'not begun' : words}`;
  return html`<a href=${`?step=${encodeURIComponent(bar.name)}`} aria-label=${label}><title>${label}</title><rect class="row" x="0" y=${y} width=${NAMES + BARS + 10} height=${ROW}/><text x="6" y=${y + 20}>${bar.name}</text>${bar.segments.map(
    ({ kind, at, width: share }) => {
      const x = NAMES + at * BARS;
      const width = Math.max(THINNEST, share * BARS);
      const isThin = kind === 'waiting' || kind === 'unknown';
      return html`<rect class=${`seg ${kind === 'person' ? 'person-edge' : kind}`} fill=${kind === 'person' ? 'url(#hatch)' : undefined} x=${x} y=${y + (isThin ? 12 : 6)} width=${width} height=${isThin ? 6 : 18}/>`;
    },
  )}</a>`;
}

const place = document.querySelector('#timeline');
const data = document.querySelector('#data')?.textContent;
if (place && data) render(html`<${Figure} ...${JSON.parse(data)} />`, place);
