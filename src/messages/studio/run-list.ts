import { html } from 'hono/html';
import { RUN_STATUSES, type Run } from '../../domain/run/run.ts';
import { short } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { address, filterForm, nextPage, RUN_STATUS_WORDS, runState, time } from './parts.ts';
import { prose, said } from './untrusted.ts';

/** What a list of runs is limited to, as its address says. */
export interface RunListQuery {
  status?: string | undefined;
  chain?: string | undefined;
  repository?: string | undefined;
  text?: string | undefined;
  before?: string | undefined;
}

/** The runs that ended badly: the link "failed only". */
export const FAILED = 'failed_only';

/** A page of runs, newest first. */
export function runListPage({
  runs,
  query,
  next,
  now,
}: {
  runs: readonly Run[];
  query: RunListQuery;
  /** Where the next page begins; `undefined` on the last. */
  next: string | undefined;
  now: Date;
}): Html {
  const { before, ...filter } = query;
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '');
  return html`<h1>Runs</h1>
${filters(query)}
<p><a href="${address('/runs', { ...filter, status: FAILED })}"${query.status === FAILED ? html` aria-current="true"` : ''}>Failed only</a>${isFiltered ? html` · <a href="/runs">All runs</a>` : ''}</p>
${
  runs.length === 0
    ? html`<p class="empty">${nothing(isFiltered || before !== undefined, next)}</p>`
    : html`<div class="wide" tabindex="0" role="group" aria-label="Runs"><table class="runs">
<thead><tr><th scope="col">Run</th><th scope="col">Repository</th><th scope="col">Head</th><th scope="col">Status</th><th scope="col">Begun</th></tr></thead>
<tbody>
${runs.map(
  (run) => html`<tr>
<td><a href="/runs/${run.id}">${said(run.chain, 100)}</a></td>
<td>${run.repository}${run.pullRequest === null ? '' : html` <a href="/${run.repository}/pull/${run.pullRequest}">#${run.pullRequest}</a>`}</td>
<td><code>${short(run.headSha)}</code></td>
<td>${runState(run.status, run.reason?.code ?? null)}${run.reason === null ? '' : html` <span class="quiet">${prose(run.reason.summary, 160)}</span>`}</td>
<td>${time(run.createdAt)}</td>
</tr>\n`,
)}
</tbody></table></div>`
}
${nextPage(next && address('/runs', { ...filter, before: next }))}
<p class="quiet">As of ${time(now)}.</p>`;
}

function nothing(isNarrowed: boolean, next: string | undefined): string {
  if (next !== undefined) return 'None among the runs searched so far.';
  return isNarrowed
    ? 'No such runs.'
    : 'No runs yet. A run begins when a pull request opens in a repository with this App.';
}

function filters({ status = '', chain = '', repository = '', text = '' }: RunListQuery): Html {
  return filterForm('/runs', [
    { kind: 'search', name: 'text', label: 'Chain, branch, commit or number', value: text },
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      value: status,
      choices: [
        ['', 'any'],
        [FAILED, 'failed only'],
        ...RUN_STATUSES.map((one) => [one, RUN_STATUS_WORDS[one]] as const),
      ],
    },
    { kind: 'text', name: 'chain', label: 'Chain', value: chain },
    { kind: 'text', name: 'repository', label: 'Repository', value: repository },
  ]);
}
