import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import { said, saidLines } from '../untrusted.ts';

const MAX_VALUES = 2_000;
const MAX_DEPTH = 20;
const MAX_LETTERS = 2_000;
/** Below this, a value is unfolded. */
const OPEN_DEPTH = 1;

/** Any JSON value, folded. Says what it leaves out. */
export function jsonViewer(value: unknown): Html {
  const left = { values: MAX_VALUES };
  const shown = viewed(value, 0, left);
  return html`<div class="json">${shown}</div>${left.values > 0 ? '' : html`<p class="quiet">Only the first ${MAX_VALUES} values are shown.</p>`}`;
}

function viewed(value: unknown, depth: number, left: { values: number }): Html {
  left.values -= 1;
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return html`<code>${String(value)}</code>`;
  const isList = Array.isArray(value);
  const names = Object.keys(value);
  const size = `${names.length} ${isList ? 'entries' : 'members'}`;
  if (names.length === 0) return html`<code>${isList ? '[]' : '{}'}</code>`;
  if (depth >= MAX_DEPTH) return html`<span class="quiet">${size}, nested too deep to show</span>`;
  const entries: Html[] = [];
  for (const name of names) {
    if (left.values <= 0) break;
    const inner = viewed((value as Record<string, unknown>)[name], depth + 1, left);
    entries.push(html`<li><span class="name">${isList ? name : said(name, 200)}</span>: ${inner}</li>\n`);
  }
  return html`<details${depth < OPEN_DEPTH ? html` open` : ''}><summary>${size}</summary><ul>
${entries}</ul></details>`;
}

function text(value: string): Html {
  const shown = value.slice(0, MAX_LETTERS);
  const rest = value.length - shown.length;
  return html`<code>${JSON.stringify(saidLines(shown))}</code>${rest === 0 ? '' : html` <span class="quiet">and ${rest} more characters</span>`}`;
}
