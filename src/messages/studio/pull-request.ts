import { html } from 'hono/html';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { isRunOver, type RunState, rulesAsked } from '../../domain/run/run.ts';
import type { PullRequestAtAddress, RunLine } from '../../ports/overview.ts';
import { nextStep, sentence } from '../run/run-sentence.ts';
import { runSummary } from '../run/run-summary.ts';
import { whoMayAnswer } from '../run/who-may-answer.ts';
import { short } from '../text/pretty.ts';
import { type Acting, actedOn, answerForm, buttonsFor, commandButtons } from './answering.ts';
import type { Html } from './layout.ts';
import { ago, runState } from './parts.ts';
import { prose, said } from './untrusted.ts';
import { whyTree } from './why.ts';

/** A run that represents the pull request as it is now. */
export interface CurrentRun {
  state: RunState;
  approval: Approval | null;
  why: Explanation;
}

export interface PullRequestPage {
  pullRequest: PullRequestAtAddress;
  /** Of the newest head, those that merge first. */
  current: readonly CurrentRun[];
  /** All runs, newest first, and whether there are older ones. */
  runs: readonly RunLine[];
  hasMore: boolean;
  /** Chains without a run, with the reasons that are stored. */
  others: Explanation | undefined;
  /** Who can answer and give commands from here; `undefined` for somebody who only reads. */
  acting: Acting | undefined;
  githubUrl: string;
  now: Date;
}

/** For the browser's tab. */
export function pullRequestTitle({
  repository,
  number,
  title,
}: Pick<PullRequestAtAddress, 'repository' | 'number' | 'title'>): string {
  const name = `${repository}#${number}`;
  return title === null ? name : `${said(title, 100)} · ${name}`;
}

/** Everything about a pull request: what happens next, why, and its runs. */
export function pullRequestPage(page: PullRequestPage): Html {
  const { pullRequest, current, others, githubUrl, now } = page;
  const { repository, number, title, author } = pullRequest;
  const onGithub = `${githubUrl}/${repository}/pull/${number}`;
  const [first] = current;
  return html`<h1>${repository}#${number} <small>${title === null ? '' : said(title, 300)}</small></h1>
<p class="next ${toneOf(page)}">${nextOf(page)}</p>
<p class="quiet">${stateOf(pullRequest, now)}${author === null ? '' : html` · by ${said(author, 60)}`} · <a href="${onGithub}">on GitHub</a></p>
${questionOf(page)}
${first === undefined || pullRequest.state === 'merged' ? '' : commandButtons(buttonsFor(first.state), actedOn(first.state.run), page.acting)}
<section aria-labelledby="why"><h2 id="why">${pullRequest.state === 'merged' ? 'Why it merged' : 'Why it does not merge yet'}</h2>
${first === undefined ? html`<p>No run is for its head${pullRequest.headSha === null ? '' : html` <code>${short(pullRequest.headSha)}</code>`}, so nothing can merge it.</p>` : current.map((run) => whyOf(run, githubUrl))}
</section>
${
  others === undefined
    ? ''
    : html`<section aria-labelledby="others"><h2 id="others">Chains without a run</h2>
${whyTree(others.reasons, { githubUrl, run: { repository, pullRequest: number } })}
<p class="quiet">From what is stored. Comment <code>/countersign why</code> on the pull request to have the chains of its branch checked, too.</p></section>`
}
${runsOf(page)}`;
}

function stateOf({ state, stateAt, pausedBy }: PullRequestAtAddress, now: Date): Html {
  const since = stateAt === null || state === 'open' ? '' : html` ${ago(stateAt, now)}`;
  const words = {
    open: 'Open',
    closed: 'Closed without a merge',
    merged: 'Merged',
    gone: 'Its repository cannot be reached any more',
  } as const;
  return html`${state === null ? 'Open, as far as is known' : words[state]}${since}${pausedBy === null ? '' : html` · paused by ${said(pausedBy, 60)}`}`;
}

/** Whether the sentence is good news, bad news or about waiting. Its words say the same. */
function toneOf({ current: [first], pullRequest }: PullRequestPage): 'good' | 'bad' | 'wait' | '' {
  if (pullRequest.state === 'merged') return 'good';
  if (first === undefined || pullRequest.state === 'closed') return '';
  const { status, reason } = first.state.run;
  if (!isRunOver(status)) return 'wait';
  return status === 'cancelled' || reason?.code === 'run.completed' ? '' : 'bad';
}

/** One sentence: where it stands, and who has to do what. */
function nextOf({ current, pullRequest }: PullRequestPage): Html {
  const [first] = current;
  if (pullRequest.state === 'closed') return html`<b>Closed.</b> Nothing happens until it is opened again.`;
  if (first === undefined) return html`<b>No run yet.</b> A chain begins one when its trigger matches.`;
  const { state, approval } = first;
  const where = runSummary(state, approval);
  const next = nextStep(where, state, approval);
  return html`<b>${said(sentence(where, state, approval), 300)}.</b>${next === undefined ? '' : html` ${prose(next, 600)}`}`;
}

function questionOf({ current, acting, githubUrl, pullRequest, now }: PullRequestPage): Html | '' {
  const asking = current.find(({ approval }) => approval?.status === 'open');
  if (!asking?.approval) return '';
  const { state, approval } = asking;
  const rules = rulesAsked(state, approval);
  const { repository, number } = pullRequest;
  return html`<section class="question" aria-labelledby="question"><h2 id="question">${rules.step?.question === undefined ? 'An answer is needed' : said(rules.step.question, 200)}</h2>
<p>Asked ${ago(approval.askedAt, now)} about <code>${short(approval.headSha)}</code> into <code>${said(approval.baseRef, 200)}</code>. ${approval.countersignedBy.length === 0 ? 'Nobody has countersigned yet.' : `Countersigned so far by ${approval.countersignedBy.map((login) => said(login, 60)).join(', ')}.`}</p>
<p>Who may answer: ${prose(whoMayAnswer(rules).replaceAll('**', ''), 2_000)} Not the author, nor anybody who committed, co-wrote or pushed one of the commits, nor bots.</p>
${acting ? answerForm(state, approval, acting) : html`<p><a href="${githubUrl}/${repository}/pull/${number}">Answer on GitHub</a>, with a reaction to the approval comment.</p>`}
</section>`;
}

function whyOf({ state, why }: CurrentRun, githubUrl: string): Html {
  const { run } = state;
  return html`<h3><a href="/runs/${run.id}">${said(run.chain, 100)}</a> ${runState(run.status, run.reason?.code ?? null)}</h3>
<p>${prose(why.summary, 500)}</p>
${whyTree(why.reasons, { githubUrl, run })}`;
}

function runsOf({ runs, hasMore, githubUrl, pullRequest, now }: PullRequestPage): Html {
  const heads = [...new Set(runs.map(({ headSha }) => headSha))];
  const { repository } = pullRequest;
  return html`<section aria-labelledby="runs"><h2 id="runs">Runs</h2>
${runs.length === 0 ? html`<p>None.</p>` : ''}
${heads.map((head, at) => {
  const ofHead = runs.filter(({ headSha }) => headSha === head);
  const what =
    head === pullRequest.headSha ? 'the head' : at === 0 ? 'the newest head with runs' : 'an earlier head';
  return html`<h3><a href="${githubUrl}/${repository}/commit/${head}"><code>${short(head)}</code></a> <small>${what}</small></h3>
<ul class="items">
${ofHead.map((run) => html`<li><p class="head"><a class="main" href="/runs/${run.id}">${said(run.chain, 100)}</a> ${runState(run.status, run.reasonCode)}</p><p class="quiet">begun ${ago(run.createdAt, now)}, last change ${ago(run.changedAt, now)}</p></li>\n`)}</ul>`;
})}
${hasMore ? html`<p>Older runs are not listed. The command <code>countersign run list ${repository}#${pullRequest.number}</code> has all.</p>` : ''}
</section>`;
}
