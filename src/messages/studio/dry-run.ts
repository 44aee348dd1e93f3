import { html } from 'hono/html';
import { unreachable } from '../../core/errors.ts';
import type { CaseResult } from '../../domain/chain-case/case-file.ts';
import type {
  DryRunEnd,
  DryRunFailure,
  ShownCourse,
  ShownDryRun,
  ShownStep,
  ShownWrite,
} from '../../ports/dry-runs.ts';
import { plural, short } from '../text/pretty.ts';
import { LIMIT_MINUTES } from './chain-form.ts';
import { chainPath, DRY_RUNS } from './chain-path.ts';
import { stepGraph } from './graph.ts';
import type { Html } from './layout.ts';
import { prose, said, saidLines } from './untrusted.ts';
import { whyTree } from './why.ts';

/** A dry run as its page shows it. */
export interface DryRunView {
  id: string;
  chain: string;
  /** Its text was pasted. */
  isPasted: boolean;
  repository: string;
  pullRequest: number | null;
  /** So far. */
  steps: readonly ShownStep[];
  /** `null`: it is under way. */
  end: DryRunEnd | null;
}

/** How long a result is kept after its end. */
export const KEPT_MINUTES = 30;

const RESULTS: Readonly<Record<CaseResult, string>> = {
  not_run: 'It would not run.',
  asked: 'It would ask for a countersign.',
  waits: 'It would wait.',
  done: 'It would run to its end.',
  not_passed: 'It would not pass.',
  stopped: 'It would stop.',
};

const TONES: Readonly<Record<CaseResult, string>> = {
  not_run: '',
  asked: 'wait',
  waits: 'wait',
  done: 'good',
  not_passed: 'bad',
  stopped: 'bad',
};

/** The part of the page that changes while the dry run works. */
export function dryRunPage(view: DryRunView, { githubUrl, csrf }: { githubUrl: string; csrf: string }): Html {
  const { chain, isPasted, repository, pullRequest, end } = view;
  const subject =
    pullRequest === null
      ? html`${said(repository, 150)}, without a pull request`
      : html`<a href="${githubUrl}/${repository}/pull/${pullRequest}">${said(repository, 150)}#${pullRequest}</a>`;
  return html`<p>${isPasted ? html`<a href="/chains/check">Check a chain</a>` : html`<a href="${chainPath(chain)}">${chain}</a>`}</p>
<h1>Dry run of ${chain} <small>${subject}</small></h1>
<p class="quiet">Nothing is written to GitHub. What is read is read with your own access. No language model is asked, and no agent and no command runs: steps that need one say so.</p>
${end === null ? underWay(view, csrf) : end.kind === 'failed' ? failure(end.because) : result(view, end.shown, githubUrl)}
${end === null ? '' : html`<p class="quiet">Only you can see this page. It is kept for ${KEPT_MINUTES} minutes.</p>`}`;
}

function underWay({ id, steps }: DryRunView, csrf: string): Html {
  return html`<p class="next wait" role="status">It takes at most ${plural(LIMIT_MINUTES, 'minute')}. <a href="${DRY_RUNS}/${id}">Reload</a> to see how far it is.</p>
<form class="actions" method="post" action="${DRY_RUNS}/${id}/stop"><input type="hidden" name="csrf" value="${csrf}"><button class="danger">Stop it</button></form>
${steps.length === 0 ? html`<p class="quiet">It reads the repository and its configuration.</p>` : stepList(steps)}`;
}

function result(view: DryRunView, shown: ShownDryRun, githubUrl: string): Html {
  const { repository, pullRequest } = view;
  const about = { githubUrl, run: { repository, pullRequest } };
  const own = shown.steps.filter(({ depth }) => depth === 0);
  const nodes = own.map(({ id, dependsOn, mark, words, state }) => ({ id, dependsOn, mark, words, state }));
  return html`<p class="next ${TONES[shown.result]}" role="status"><b>${RESULTS[shown.result]}</b> ${prose(shown.because, 1_000)}</p>
${
  shown.pullRequest === null
    ? ''
    : html`<p>${said(shown.pullRequest.title, 300)} <span class="quiet"><code>${short(shown.pullRequest.headSha)}</code> into ${said(shown.pullRequest.baseRef, 200)}</span></p>`
}
${shown.notes.map((note) => html`<p>${prose(note, 1_000)}</p>\n`)}
${
  shown.steps.length === 0
    ? ''
    : html`<section aria-labelledby="steps"><h2 id="steps">Steps</h2>
${stepGraph(nodes, 'Steps as a graph; the list below says the same')}
${stepList(shown.steps)}
${shown.moreSteps === 0 ? '' : html`<p class="quiet">And ${plural(shown.moreSteps, 'more step')}.</p>`}</section>`
}
${shown.whyNot === null ? '' : html`<section aria-labelledby="why"><h2 id="why">Why</h2>${whyTree([shown.whyNot], about)}</section>`}
${shown.courses.map((course, at) => courseOf(course, at, about))}`;
}

function courseOf(
  { path, chain, why, writes, moreWrites }: ShownCourse,
  at: number,
  about: Parameters<typeof whyTree>[1],
): Html {
  const of =
    path.length === 0
      ? ''
      : html` <small>of ${said(chain, 100)}, which the step ${said(path.join(' → '), 200)} runs</small>`;
  return html`<section aria-labelledby="why-${at}"><h2 id="why-${at}">Why${of}</h2>${whyTree([why], about)}</section>
<section aria-labelledby="writes-${at}"><h2 id="writes-${at}">What would be written${of}</h2>
${writes.length === 0 ? html`<p class="empty">Nothing.</p>` : writes.map(writeCard)}
${moreWrites === 0 ? '' : html`<p class="quiet">And ${plural(moreWrites, 'more write')}.</p>`}</section>`;
}

/** The first lines of a text are open, because they are what somebody came for. */
export function writeCard({ head, body, parts }: ShownWrite): Html {
  return html`<article class="card"><h3>${said(head, 300)}</h3>
${body === null ? '' : written(body)}
${parts.length === 0 ? '' : html`<details><summary>${plural(parts.length, 'part')}</summary>${parts.map((part) => html`<p>${said(part.line, 300)}</p>${part.body === null ? '' : written(part.body)}\n`)}</details>`}</article>`;
}

function written(body: string): Html {
  return html`<pre class="written" tabindex="0">${saidLines(body)}</pre>`;
}

function stepList(steps: readonly ShownStep[]): Html {
  return html`<ol class="steps">
${steps.map(
  ({ id, depth, mark, words, reason }) =>
    html`<li><span aria-hidden="true">${mark}</span> ${'→ '.repeat(depth)}<b>${said(id, 100)}</b>: ${words}${reason === null ? '' : html` <span class="quiet">${prose(reason, 300)}</span>`}</li>\n`,
)}</ol>`;
}

function failure(because: DryRunFailure): Html {
  return html`<p class="next bad" role="alert">${failureInWords(because)}</p>`;
}

function failureInWords(because: DryRunFailure): string {
  switch (because) {
    case 'hidden':
      return 'GitHub shows you no such pull request. Check its number.';
    case 'token_refused':
      return 'GitHub no longer accepts your sign-in. Sign out, sign in again and try again.';
    case 'rate_limited':
      return 'GitHub lets you make no more requests for now: it limits how many one person may make in an hour. Try again later.';
    case 'github_refuses':
      return 'GitHub refuses a request that the dry run needs. The App may lack a permission.';
    case 'no_answer':
      return 'GitHub does not answer. Try again in a moment.';
    case 'timed_out':
      return `It took longer than ${plural(LIMIT_MINUTES, 'minute')} and was stopped.`;
    case 'too_much_memory':
      return 'It needed more memory than a dry run may use, and was stopped.';
    case 'stopped':
      return 'It was stopped.';
    case 'lost':
      return 'The process that played it has ended. Try again.';
    case 'broken':
      return 'It failed. The server’s log says why.';
    default:
      return unreachable(because);
  }
}
