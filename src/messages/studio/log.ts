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

/** The sequences that set colours and weights: https://ecma-international.org/publications-and-standards/standards/ecma-48/, SGR. */
const STYLES = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;:]{0,50}m`, 'g');

/** Lines of a log without their colours. Other control characters are spelled out, because they could hide text. */
export function logLines(text: string): string {
  return saidLines(text.replaceAll(STYLES, ''));
}
