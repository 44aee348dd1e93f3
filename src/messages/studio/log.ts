import { html } from 'hono/html';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { plural } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { said, saidLines } from './untrusted.ts';

/** A log that a step left: its end, or why it cannot be shown. */
export interface ShownLog {
  artifact: Artifact;
  end: LogEnd | { because: string };
}

/** The last lines of a log. */
export interface LogEnd {
  text: string;
  /** How many bytes come before them. */
  before: number;
}

/** A log on the page of its run. The whole log is an artifact. */
export function storedLog({ artifact, end }: ShownLog): Html {
  const name = said(artifact.name, 100);
  const whole = html`<a href="/artifacts/${artifact.id}">The whole log</a>`;
  return html`<section class="log" aria-label="Log ${name}"><h3>Log ${name}</h3>
${
  'because' in end
    ? html`<p class="quiet">${end.because}</p>`
    : html`<p class="quiet">${end.before > 0 ? html`Its end, after ${plural(end.before, 'byte')}. ` : ''}${whole}</p>
<pre tabindex="0" role="group" aria-label="Lines of ${name}">${logLines(end.text)}</pre>`
}
</section>`;
}

/** The newest lines of a step that runs. */
export interface RunningLines {
  /** Of the element that further lines are added to. */
  id: string;
  end: LogEnd;
}

/**
 * The log of a running step on the page of its run. A live update of the page leaves the lines that are there, so that
 * nobody loses the place at which they read.
 */
export function runningLog({ id, end: { text, before } }: RunningLines): Html {
  return html`<section class="log" aria-label="Log so far"><h3>Log so far</h3>
<p class="quiet">The whole log is an artifact when the step has ended.</p>
<div class="follow" tabindex="0" role="group" aria-label="Lines so far"><pre id="${id}" data-follows>${before > 0 ? html`<span class="quiet">… after ${plural(before, 'byte')}</span>\n` : ''}${logLines(text)}</pre></div>
</section>`;
}

/**
 * Lines for the end of a running log that a page shows.
 * https://four.htmx.org/docs#partials
 */
export function addedLines(id: string, text: string): Html {
  return html`<hx-partial hx-target="#${id}" hx-swap="beforeend">${logLines(text)}</hx-partial>`;
}

/** The sequences that set colours and weights: https://ecma-international.org/publications-and-standards/standards/ecma-48/, SGR. */
const STYLES = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;:]{0,50}m`, 'g');

/** Lines of a log without their colours. Other control characters are spelled out, because they could hide text. */
export function logLines(text: string): string {
  return saidLines(text.replaceAll(STYLES, ''));
}
