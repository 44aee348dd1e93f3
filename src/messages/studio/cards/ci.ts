import { html } from 'hono/html';
import { formatDuration } from '../../../core/duration.ts';
import type { CiCheck, CiResult } from '../../../domain/outcome/ci-result.ts';
import { plural } from '../../text/pretty.ts';
import type { Html } from '../layout.ts';
import { outwards, prose, said } from '../untrusted.ts';
import { type CardFrame, framed, heading, label, listOf, more, passedLabel, type Tone } from './frame.ts';

/** What needs attention comes first. */
const STATES: Readonly<Record<CiCheck['state'], Tone>> = {
  failed: 'bad',
  pending: 'wait',
  passed: 'good',
  neutral: 'plain',
};
const ORDER = Object.keys(STATES) as CiCheck['state'][];

const AREAS = [
  ['lint', 'lint_passed'],
  ['tests', 'tests_passed'],
  ['build', 'build_passed'],
  ['types', 'typecheck_passed'],
] as const;

/** The checks as a matrix with their counts, and what the failed commands were. */
export function ciResultCard(ci: CiResult, frame: CardFrame): Html {
  const { checks, commands, failure_summary } = ci;
  const { level, limit, links } = frame;
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return framed(frame, {
    name: 'CI',
    labels: html`${passedLabel(ci.passed)}${ORDER.map((state) => {
      const count = checks.filter((check) => check.state === state).length;
      return count === 0 ? '' : html` ${label(STATES[state], `${count} ${state}`)}`;
    })}${ci.test_count === null ? '' : html` <span class="quiet">${plural(ci.test_count, 'test')}</span>`}`,
    summary: prose(ci.summary, 1_000),
    body: html`${failure_summary === null ? '' : html`<p>${prose(failure_summary, 1_000)}</p>`}
<p class="labels">${AREAS.map(([name, member]) => (ci[member] === null ? '' : html`${name}: ${passedLabel(ci[member])} `))}</p>
${
  checks.length === 0
    ? html`<p>No checks ran.</p>`
    : html`<table><thead><tr><th scope="col">Check</th><th scope="col">Result</th><th scope="col">Took</th></tr></thead><tbody>
${sorted.slice(0, limit).map(checkRow)}</tbody></table>${more(checks.length - limit, links)}`
}
${
  commands.length === 0
    ? ''
    : html`${heading(level + 1, 'Commands')}
${listOf(
  commands.toSorted((a, b) => Number(a.passed) - Number(b.passed)),
  ({ command, passed, duration_ms }) =>
    html`${passedLabel(passed)} <code>${said(command, 300)}</code> <span class="quiet">${formatDuration(duration_ms)}</span>`,
  { ...frame, kind: 'checklist' },
)}`
}`,
  });
}

function checkRow({ name, state, conclusion, said: words, required, duration_ms, url }: CiCheck): Html {
  const shown = said(name, 200);
  return html`<tr>
<th scope="row">${outwards(url, shown === '' ? 'check' : shown)}${required ? html` <span class="quiet">required</span>` : ''}</th>
<td>${label(STATES[state], said(conclusion.replaceAll('_', ' '), 50))}${words === undefined ? '' : html` ${prose(words, 300)}`}</td>
<td>${duration_ms === null ? '' : formatDuration(duration_ms)}</td>
</tr>
`;
}
