import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import { said, saidLines } from '../untrusted.ts';

const MAX_VALUES = 2_000;
const MAX_DEPTH = 20;
/** Of one value. */
const MAX_LETTERS = 2_000;
/** Of all names and values together. */
const MAX_ALL_LETTERS = 200_000;
const MAX_NAME = 200;
/** Below this, a value is unfolded. */
const OPEN_DEPTH = 1;

/** Any JSON value, folded. Says what it leaves out. */
export function jsonViewer(value: unknown): Html {
  const left = { values: MAX_VALUES, letters: MAX_ALL_LETTERS };
  const shown = viewed(value, 0, left);
  const words =
    left.values <= 0 ? `Only the first ${MAX_VALUES} values are shown.` : 'Only the beginning is shown.';
  return html`<div class="json">${shown}</div>${isSpent(left) ? html`<p class="quiet">${words}</p>` : ''}`;
}

/** What can still be shown. */
interface Left {
  values: number;
  letters: number;
}

function isSpent({ values, letters }: Left): boolean {
  return values <= 0 || letters <= 0;
}

function viewed(value: unknown, depth: number, left: Left): Html {
  left.values -= 1;
  if (typeof value === 'string') return text(value, left);
  if (typeof value !== 'object' || value === null) return html`<code>${String(value)}</code>`;
  const isList = Array.isArray(value);
  const names = Object.keys(value);
  const size = `${names.length} ${isList ? 'entries' : 'members'}`;
  if (names.length === 0) return html`<code>${isList ? '[]' : '{}'}</code>`;
  if (depth >= MAX_DEPTH) return html`<span class="quiet">${size}, nested too deep to show</span>`;
  const entries: Html[] = [];
  for (const name of names) {
    if (isSpent(left)) break;
    left.letters -= Math.min(name.length, MAX_NAME);
    const inner = viewed((value as Record<string, unknown>)[name], depth + 1, left);
    entries.push(
      html`<li><span class="name">${isList ? name : said(name, MAX_NAME)}</span>: ${inner}</li>\n`,
    );
  }
  return html`<details${depth < OPEN_DEPTH ? html` open` : ''}><summary>${size}</summary><ul>
${entries}</ul></details>`;
}

function text(value: string, left: Left): Html {
  const shown = value.slice(0, Math.min(MAX_LETTERS, Math.max(0, left.letters)));
  left.letters -= shown.length;
  const rest = value.length - shown.length;
  return html`<code>${JSON.stringify(saidLines(shown))}</code>${rest === 0 ? '' : html` <span class="quiet">and ${rest} more characters</span>`}`;
}
