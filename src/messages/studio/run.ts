import { html } from 'hono/html';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Run, RunState } from '../../domain/run/run.ts';
import { capital, STEP_WORDS, short, utc, WHY_MARK } from '../text/pretty.ts';
import type { Html } from './layout.ts';

/** A list of runs, newest first. */
export function runListPage(runs: readonly Run[], now: Date): Html {
  return html`<h1>Runs</h1>
${
  runs.length === 0
    ? html`<p>No runs yet. A run begins when a pull request opens in a repository with this App.</p>`
    : html`<table>
<thead><tr><th scope="col">Run</th><th scope="col">Repository</th><th scope="col">Status</th><th scope="col">Begun</th></tr></thead>
<tbody>
${runs.map(
  (run) => html`<tr>
<td><a href="/runs/${run.id}">${run.chain}</a></td>
<td>${run.repository}${run.pullRequest === null ? '' : html` <a href="/${run.repository}/pull/${run.pullRequest}">#${run.pullRequest}</a>`}</td>
<td>${capital(run.status)}</td>
<td>${time(run.createdAt)}</td>
</tr>`,
)}
</tbody></table>`
}
<p class="quiet">As of ${time(now)}.</p>`;
}

/** A run with its steps, and why it is where it is. */
export function runPage({
  state: { run, invocations },
  why,
  githubUrl,
}: {
  state: RunState;
  why: Explanation;
  githubUrl: string;
}): Html {
  const commit = `${githubUrl}/${run.repository}/commit/${run.headSha}`;
  return html`<h1>${run.chain} <small>${run.repository}${run.pullRequest === null ? '' : html` <a href="/${run.repository}/pull/${run.pullRequest}">#${run.pullRequest}</a>`}</small></h1>
<dl class="facts">
<dt>Status</dt><dd>${capital(run.status)}</dd>
<dt>Head</dt><dd><a href="${commit}">${short(run.headSha)}</a></dd>
<dt>Base</dt><dd>${run.baseRef}</dd>
<dt>Begun</dt><dd>${time(run.createdAt)}</dd>
</dl>
<section aria-labelledby="why"><h2 id="why">Why</h2>${whyList([why])}</section>
<section aria-labelledby="steps"><h2 id="steps">Steps</h2>
<ol class="steps">
${invocations.map((step) => html`<li><span class="state ${step.status}">${STEP_WORDS[step.status].words}</span> <b>${step.stepId}</b> ${step.reason?.summary ?? ''}</li>\n`)}
</ol></section>`;
}

function whyList(reasons: readonly Explanation[]): Html {
  return html`<ul class="why">
${reasons.map(
  (reason) =>
    html`<li class="${reason.status}"><span aria-hidden="true">${WHY_MARK[reason.status]}</span> <span class="status">${reason.status}</span> ${reason.summary}${reason.reasons.length > 0 ? whyList(reason.reasons) : ''}</li>\n`,
)}</ul>`;
}

/** A moment, in UTC, as people and programs read it. */
export function time(moment: Date): Html {
  return html`<time datetime="${moment.toISOString()}">${utc(moment)}</time>`;
}
