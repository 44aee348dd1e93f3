import { html } from 'hono/html';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { CheckedChain } from '../../ports/chain-tools.ts';
import { plural } from '../text/pretty.ts';
import { type ChainFields, chainFields } from './chain-form.ts';
import type { Html } from './layout.ts';
import { prose, saidLines } from './untrusted.ts';

export const CHECK_TITLE = 'Check a chain';

export const TOO_MANY_CHECKS = 'There were too many checks within a minute. Try again in a moment.';

/** Of a long text, only what is around its errors is shown. */
const MAX_LINES = 1_500;
const AROUND = 3;
const MAX_FAULTS = 200;

/** A form for the text of a chain file, and what is wrong with the text that was sent. */
export function chainCheckPage({
  text,
  checked,
  refused,
  dryRun,
  csrf,
}: {
  text: string;
  checked?: CheckedChain;
  /** Why the text was not checked. */
  refused?: string;
  /** Absent for somebody who cannot ask for one. */
  dryRun?: ChainFields | undefined;
  /** Of the person who signed in. */
  csrf: string | undefined;
}): Html {
  return html`<p><a href="/chains">Chains</a></p>
<h1>${CHECK_TITLE}</h1>
<p>Paste the text of a chain file. It is checked as <code>countersign chain lint</code> checks it, with the skills and chains that ship with Countersign. Nothing is stored.</p>
${refused === undefined ? '' : html`<p class="flash failed" role="alert">${refused}</p>`}
${checked === undefined ? '' : resultOf(text, checked)}
<form method="post" action="/chains/check" class="paste">
${csrf === undefined ? '' : html`<input type="hidden" name="csrf" value="${csrf}">`}
<label for="text">Chain file</label>
<textarea id="text" name="text" rows="20" spellcheck="false" autocapitalize="off" autocomplete="off" required>
${text}</textarea>
<button class="primary">Check</button>
${dryRun === undefined ? '' : chainFields(dryRun)}
</form>`;
}

function resultOf(text: string, { errors, warnings, name }: CheckedChain): Html {
  const faults = [...errors, ...warnings];
  const count = [
    errors.length === 0 ? 'No errors' : plural(errors.length, 'error'),
    ...(warnings.length === 0 ? [] : [plural(warnings.length, 'warning')]),
  ].join(', ');
  const shown = faults.slice(0, MAX_FAULTS);
  return html`<section aria-labelledby="result">
<h2 id="result">${name === undefined || errors.length > 0 ? 'Result' : html`<code>${name}</code>`}</h2>
<p class="flash ${errors.length === 0 ? 'ok' : 'failed'}" role="${errors.length === 0 ? 'status' : 'alert'}"><span aria-hidden="true">${errors.length === 0 ? '✓' : '✗'}</span> ${count}.</p>
${shown.length < faults.length ? html`<p>Only the first ${MAX_FAULTS} of them are shown.</p>` : ''}
${faults.length === 0 ? '' : sourceWith(text, shown)}
</section>`;
}

/** The text with its line numbers, and each error below its line. */
function sourceWith(text: string, faults: readonly Diagnostic[]): Html {
  const lines = text.split('\n');
  const at = Map.groupBy(faults, ({ line }) => Math.min(line, lines.length));
  const isShown = (line: number) =>
    lines.length <= MAX_LINES || [...at.keys()].some((fault) => Math.abs(fault - line) <= AROUND);
  const numbers = lines.map((_, index) => index + 1).filter(isShown);
  return html`<table class="source">
<caption>The text, with each fault below its line</caption>
<thead><tr><th scope="col">Line</th><th scope="col">Text</th></tr></thead>
<tbody>
${numbers.map(
  (
    number,
  ) => html`<tr${at.has(number) ? html` class="at"` : ''}><th scope="row" id="L${number}">${number}</th><td><code>${saidLines(lines[number - 1] ?? '')}</code></td></tr>
${(at.get(number) ?? []).map(
  ({ line, column, message, severity }) =>
    html`<tr class="fault ${severity ?? 'error'}"><td></td><td><b>${severity === 'warning' ? 'Warning' : 'Error'}</b> at ${line}:${column}: ${prose(message, 2_000)}</td></tr>\n`,
)}`,
)}</tbody>
</table>`;
}
