import { html } from 'hono/html';
import { formatDuration } from '../../core/duration.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import type { EffectRow } from '../../domain/effect/effect.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { actorOf } from '../../domain/run/actor.ts';
import { explain } from '../../domain/run/explain.ts';
import type { PastTransition } from '../../domain/run/history.ts';
import {
  governingBranch,
  type Invocation,
  isRunOver,
  isStepOver,
  type RunState,
  type Session,
} from '../../domain/run/run.ts';
import type { Timeline } from '../../domain/run/timeline.ts';
import { actorInWords } from '../cli/history.ts';
import { definedIn } from '../run/defined-in.ts';
import { NOTHING_WRITTEN } from '../run/rollout.ts';
import { nextStep, sentence } from '../run/run-sentence.ts';
import { runSummary } from '../run/run-summary.ts';
import { face } from '../run/steps-table.ts';
import { written } from '../run/what-is-written.ts';
import { plural, short } from '../text/pretty.ts';
import {
  type Acting,
  actedOn,
  answerForm,
  buttonsFor,
  commandButtons,
  rerunStepButton,
} from './answering.ts';
import { card } from './cards/card.ts';
import { writeCard } from './dry-run.ts';
import { stepGraph } from './graph.ts';
import type { Html } from './layout.ts';
import { type RunningLines, runningLog, type ShownLog, storedLog } from './log.ts';
import { address as addressWith, duration, exactTime, runState, time, wide } from './parts.ts';
import { shownWrites } from './shown-dry-run.ts';
import { timelineFigure } from './timeline.ts';
import { outwards, prose, said, saidLines } from './untrusted.ts';
import { whyTree } from './why.ts';

/** The newest of a list, oldest first, and whether there are older ones. */
interface Newest<T> {
  shown: readonly T[];
  isCut: boolean;
}

export interface RunView {
  state: RunState;
  approval: Approval | null;
  /** The newest, of all steps. */
  sessions: readonly Session[];
  /** Of the selected step, as are the artifacts. */
  attempts: Newest<Session>;
  /** Oldest first. */
  past: readonly PastTransition[];
  /** Whether there are older transitions than these. */
  isCut: boolean;
  effects: Newest<EffectRow>;
  artifacts: Newest<Artifact>;
  timeline: Timeline;
  /** Whose details are shown. */
  selected: Invocation | undefined;
  /** Of the selected step. */
  logs: readonly ShownLog[];
  /** What the selected step has printed so far, if it runs. */
  lines: RunningLines | undefined;
  githubUrl: string;
  /** Deliveries are for operators. */
  seesDeliveries: boolean;
  /** `undefined`: somebody who only reads. */
  acting: Acting | undefined;
  now: Date;
}

/** How many changes a page shows; the newest ones. */
const MAX_SHOWN = 30;

/** A run: where it is and why, its steps, and how it came to what it wrote. */
export function runPage(view: RunView): Html {
  const { state, approval } = view;
  const { run } = state;
  const where = runSummary(state, approval);
  const next = nextStep(where, state, approval);
  return html`${heading(view)}
<p class="sentence ${run.status}">${said(sentence(where, state, approval))}</p>
${next === undefined ? '' : html`<p><b>Next:</b> ${prose(next, 1_000)}</p>`}
${facts(view)}
${answerForm(state, approval, view.acting)}${commandButtons(buttonsFor(state), actedOn(run), view.acting)}
<section aria-labelledby="why"><h2 id="why">Why</h2>${whyTree([explain(state, approval)], { githubUrl: view.githubUrl, run })}</section>
<section aria-labelledby="steps"><h2 id="steps">Steps</h2>${steps(view)}</section>
<div class="panels">
<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>${timelineFigure(view.timeline, { address: (stepId) => addressOf(view, stepId), selected: view.selected?.stepId })}</section>
${selectedStep(view)}
</div>
${withheldWrites(view)}<section aria-labelledby="effects"><h2 id="effects">Written to GitHub</h2>${effectTable(view)}</section>
<section aria-labelledby="history"><h2 id="history">What happened</h2>${history(view)}</section>`;
}

function heading({ state: { run } }: RunView): Html {
  const pull =
    run.pullRequest === null
      ? ''
      : html` <a href="/${run.repository}/pull/${run.pullRequest}">#${run.pullRequest}</a>`;
  return html`<h1>${said(run.chain, 100)} <small>${run.repository}${pull}</small></h1>`;
}

function facts(view: RunView): Html {
  const { state, githubUrl, now } = view;
  const { run } = state;
  const onGithub = `${githubUrl}/${run.repository}`;
  const end = run.finishedAt ?? now;
  const parent = run.facts.parent;
  return html`<dl class="facts">
<dt>Status</dt><dd>${runState(run.status, run.reason?.code ?? null)}${run.paused && !isRunOver(run.status) ? ', paused' : ''}${run.reason === null ? '' : html`: ${prose(run.reason.summary)} <span class="quiet">(${run.reason.code})</span>`}</dd>
<dt>Head</dt><dd><a href="${onGithub}/commit/${run.headSha}"><code>${short(run.headSha)}</code></a></dd>
<dt>Base</dt><dd>${said(run.baseRef, 200)} at <a href="${onGithub}/commit/${run.baseSha}"><code>${short(run.baseSha)}</code></a></dd>
<dt>Trigger</dt><dd>${trigger(view)}</dd>
${parent === undefined ? '' : html`<dt>Begun by</dt><dd>step ${said(parent.step, 60)} of <a href="/runs/${parent.run}">${said(parent.chain, 100)}</a></dd>\n`}<dt>Begun</dt><dd>${time(run.createdAt)}</dd>
<dt>${run.finishedAt === null ? 'Runs for' : 'Took'}</dt><dd>${duration(end.getTime() - run.createdAt.getTime())}</dd>
<dt>Configuration</dt><dd><a href="/runs/${run.id}/configuration">as it was when the run began</a>, from ${said(governingBranch(run), 200)} at <a href="${onGithub}/commit/${run.baseSha}"><code>${short(run.baseSha)}</code></a>${run.facts.defined === undefined ? '' : html`; the chain is ${said(definedIn(run.facts.defined), 300)}`}</dd>
</dl>`;
}

function trigger({ state: { run }, seesDeliveries }: RunView): Html {
  const by = actorOf(run.event, run.deliveryId);
  const who = by.kind === 'event' ? '' : html` by ${said(actorInWords(by), 100)}`;
  return html`${run.event.kind}${who}${run.deliveryId === null ? '' : html`, ${delivery(run.deliveryId, seesDeliveries)}`}`;
}

function delivery(id: number, isLink: boolean): Html {
  const words = `delivery ${id}`;
  return isLink ? html`<a href="/operations/deliveries/${id}">${words}</a>` : html`${words}`;
}

/** A run's page with a step selected. */
function addressOf({ state: { run } }: RunView, stepId: string): string {
  return `${addressWith(`/runs/${run.id}`, { step: stepId })}#step`;
}

function steps(view: RunView): Html {
  const { state, selected, now } = view;
  const { definition } = state.run;
  const nodes = state.invocations.map((step) => ({
    id: step.stepId,
    dependsOn: definition.steps[step.stepIndex]?.dependsOn ?? [],
    address: addressOf(view, step.stepId),
    mark: face(step).mark,
    words: stateWords(step, now),
    state: step.outcome?.passed === false ? 'undone' : step.status,
    isSelected: step === selected,
  }));
  return html`${stepGraph(nodes, 'Steps as a graph; the list below says the same')}
<ol class="steps">
${state.invocations.map((step) => {
  const after = definition.steps[step.stepIndex]?.dependsOn ?? [];
  return html`<li><span aria-hidden="true">${face(step).mark}</span> <a href="${addressOf(view, step.stepId)}"${step === selected ? html` aria-current="step"` : ''}>${said(step.stepId, 60)}</a>: ${stateWords(step, now)}${step.reason === null ? '' : html` <span class="quiet">${prose(step.reason.summary, 300)}</span>`}${after.length === 0 ? '' : html` <span class="quiet">after ${said(after.join(', '))}</span>`}</li>\n`;
})}</ol>`;
}

function stateWords(step: Invocation, now: Date): string {
  const { words } = face(step);
  const ms = lasted(step, now);
  return ms === undefined ? words : `${words}, ${ms}`;
}

function lasted(
  { startedAt, finishedAt }: Pick<Invocation, 'startedAt' | 'finishedAt'>,
  now: Date,
): string | undefined {
  if (startedAt === null) return undefined;
  const ms = (finishedAt ?? now).getTime() - startedAt.getTime();
  return formatDuration(Math.max(0, ms));
}

function selectedStep(view: RunView): Html {
  const { selected: step, state, now } = view;
  if (!step) return html``;
  const { run } = state;
  const definition = run.definition.steps[step.stepIndex];
  const gates = (state.verdicts ?? []).filter((verdict) => verdict.step === step.stepId);
  const on = actedOn(run);
  return html`<section id="step" class="selected-step" aria-labelledby="step-name">
<h2 id="step-name">Step ${said(step.stepId, 60)}</h2>
<dl class="facts">
<dt>State</dt><dd>${face(step).mark} ${stateWords(step, now)}</dd>
${definition === undefined ? '' : html`<dt>Runs</dt><dd>${said(definition.uses.name, 100)}</dd>\n`}${definition?.condition === undefined ? '' : html`<dt>Condition</dt><dd><code>${said(definition.condition, 500)}</code></dd>\n`}${step.reason === null ? '' : html`<dt>Because</dt><dd>${prose(step.reason.summary)} <span class="quiet">(${step.reason.code})</span></dd>\n`}${step.waitUntil === null ? '' : html`<dt>Looks again</dt><dd>${time(step.waitUntil)}</dd>\n`}${step.deadlineAt === null || step.finishedAt !== null ? '' : html`<dt>Times out</dt><dd>${time(step.deadlineAt)}</dd>\n`}</dl>
${on.kind === 'pull_request' && isStepOver(step.status) ? rerunStepButton(step.stepId, on, view.acting) : ''}
${view.lines ? runningLog(view.lines) : ''}<h3>Where it comes from</h3>
${trace(view, step)}
<h3>Attempts</h3>
${attempts(view)}
${gates.map((verdict) => cardOf(view, { kind: 'gate_verdict', value: verdict }))}
<h3>Artifacts</h3>
${artifactsOf(view, step)}
${view.logs.map(storedLog)}
</section>`;
}

/** From the delivery to what came of the step, each with what caused it. */
function trace(view: RunView, step: Invocation): Html {
  const { state, past, seesDeliveries } = view;
  const { run } = state;
  const causeOf = (id: string) => {
    const by = past.find(({ subject }) => subject.id === id)?.by;
    return by ? html` <span class="quiet">by ${said(actorInWords(by), 100)}</span>` : '';
  };
  const last = view.attempts.shown.at(-1);
  const effects = effectsOfStep(view, step);
  return html`<ol class="trace">
${run.deliveryId === null ? '' : html`<li>Delivery: ${delivery(run.deliveryId, seesDeliveries)}</li>\n`}<li>Event: <a href="/runs/${run.id}/configuration#event">${run.event.kind}</a> <span class="quiet">by ${said(actorInWords(actorOf(run.event, run.deliveryId)), 100)}</span></li>
<li>Run: <a href="/runs/${run.id}">${run.id}</a></li>
<li>Invocation: <a href="${addressOf(view, step.stepId)}">${step.id}</a>${causeOf(step.id)}</li>
${last === undefined ? html`<li class="quiet">No session yet</li>\n` : html`<li>Session: <a href="#${last.id}">${last.id}</a>, attempt ${last.attempt}</li>\n`}${
  step.outcomeArtifactId === null
    ? html`<li class="quiet">No outcome${isOver(step) ? '' : ' yet'}</li>\n`
    : html`<li>Outcome: <a href="/artifacts/${step.outcomeArtifactId}">${said(step.outcome?.outcome_kind ?? step.outcomeArtifactId, 100)}</a></li>\n`
}${effects.map((row) => html`<li>Effect: <a href="#${row.id}">${said(written(row.effect)[0] ?? row.effect.kind, 150)}</a></li>\n`)}</ol>`;
}

function isOver({ finishedAt }: Invocation): boolean {
  return finishedAt !== null;
}

/** Those of the newest that name the step; the check run and the status comment are about the whole run. */
function effectsOfStep({ effects }: RunView, step: Invocation): EffectRow[] {
  return effects.shown.filter(
    ({ key, effect }) =>
      key.split(':').includes(step.id) || ('invocation_id' in effect && effect.invocation_id === step.id),
  );
}

function attempts({ attempts: { shown, isCut }, now }: RunView): Html {
  if (shown.length === 0) return html`<p class="quiet">None yet.</p>`;
  return html`${isCut ? html`<p class="quiet">The newest ${plural(shown.length, 'attempt')}; there are older ones.</p>` : ''}
${wide(
  'Attempts',
  html`<table><thead><tr><th scope="col">Attempt</th><th scope="col">Begun</th><th scope="col">Took</th><th scope="col">Ended</th></tr></thead><tbody>
${shown.map(
  (session) =>
    html`<tr id="${session.id}"><td>${session.attempt}</td><td>${time(session.startedAt)}</td><td>${lasted(session, now)}</td><td>${session.status}${session.reason === null ? '' : html`: ${prose(session.reason.summary, 300)}`}</td></tr>\n`,
)}</tbody></table>`,
)}`;
}

function artifactsOf(view: RunView, step: Invocation): Html {
  const { shown: made, isCut } = view.artifacts;
  const shown = made.filter(({ id }) => id !== step.outcomeArtifactId);
  const outcome = step.outcome;
  if (!outcome && shown.length === 0) return html`<p class="quiet">None${isOver(step) ? '' : ' yet'}.</p>`;
  return html`${
    outcome
      ? cardOf(view, {
          kind: outcome.outcome_kind,
          value: outcome,
          artifact: step.outcomeArtifactId ?? undefined,
          durationMs: ms(step),
        })
      : ''
  }${isCut ? html`<p class="quiet">The newest ${plural(shown.length, 'artifact')}. <code>countersign artifact list --run ${view.state.run.id}</code> lists them all.</p>` : ''}${
    shown.length === 0
      ? ''
      : html`<ul>${shown.map(({ id, kind, name }) => html`<li><a href="/artifacts/${id}">${said(name, 100)}</a> <span class="quiet">${said(kind, 100)}</span></li>\n`)}</ul>`
  }`;
}

function ms({ startedAt, finishedAt }: Invocation): number | undefined {
  return startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : undefined;
}

function cardOf(
  { state: { run }, githubUrl }: RunView,
  shown: { kind: string; value: unknown; artifact?: string | undefined; durationMs?: number | undefined },
): Html {
  const { repository, headSha } = run;
  return card(shown.kind, shown.value, {
    links: {
      githubUrl,
      repository,
      headSha,
      ...(shown.artifact !== undefined && { artifact: `/artifacts/${shown.artifact}` }),
    },
    durationMs: shown.durationMs,
    limit: 10,
    level: 3,
  });
}

/** What the rollout kept from GitHub: a report of what the run would have done. */
function withheldWrites({ effects: { shown, isCut } }: RunView): Html {
  const withheld = shown.filter(({ status }) => status === 'withheld');
  if (withheld.length === 0) return html``;
  const writes = shownWrites(withheld.map(({ effect }) => effect));
  const more = withheld.length - writes.length;
  return html`<section aria-labelledby="withheld"><h2 id="withheld">What it would have written</h2>
<p class="quiet">${NOTHING_WRITTEN}${isCut ? ' Only the newest are listed.' : ''}</p>
${writes.map(writeCard)}
${more === 0 ? '' : html`<p class="quiet">And ${plural(more, 'more write')}.</p>`}</section>
`;
}

function effectTable(view: RunView): Html {
  const { shown: all, isCut } = view.effects;
  const shown = all.filter(({ status }) => status !== 'withheld');
  if (shown.length === 0) return html`<p class="quiet">Nothing.</p>`;
  return html`${isCut ? html`<p class="quiet">The newest ${plural(shown.length, 'write')}; there are older ones.</p>` : ''}
${wide(
  'Written to GitHub',
  html`<table><thead><tr><th scope="col">What</th><th scope="col">State</th><th scope="col">Attempts</th><th scope="col">Changed</th></tr></thead><tbody>
${shown.map((row) => {
  const words = said(written(row.effect)[0] ?? row.effect.kind, 200);
  return html`<tr id="${row.id}"><td>${outwards(effectPage(row, view.githubUrl), words)}</td><td>${row.status}${row.error === null ? '' : html`: ${prose(row.error, 300)}`}</td><td>${row.attempts}</td><td>${time(row.updatedAt)}</td></tr>\n`;
})}</tbody></table>`,
)}`;
}

/**
 * The page of what was written.
 * https://docs.github.com/en/rest/checks/runs#get-a-check-run (html_url),
 * https://docs.github.com/en/rest/issues/comments#get-an-issue-comment (html_url)
 */
function effectPage({ effect, githubId, progress }: EffectRow, githubUrl: string): string | undefined {
  const onGithub = `${githubUrl}/${effect.owner}/${effect.repo}`;
  if (progress.url !== undefined) return progress.url;
  if (progress.merge_sha !== undefined) return `${onGithub}/commit/${progress.merge_sha}`;
  switch (effect.kind) {
    case 'check_run':
    case 'gate_check':
      return githubId === null ? undefined : `${onGithub}/runs/${githubId}`;
    case 'comment':
      return githubId === null ? undefined : `${onGithub}/issues/${effect.issue}#issuecomment-${githubId}`;
    case 'label':
    case 'assignment':
    case 'milestone':
    case 'closing':
      return `${onGithub}/issues/${effect.issue}`;
    case 'merge':
    case 'enqueue':
    case 'review':
    case 'resolved_finding':
    case 'thread_reply':
    case 'review_request':
    case 'update_branch':
    case 'backport':
      return `${onGithub}/pull/${effect.pull_request}`;
    default:
      return undefined;
  }
}

function history(view: RunView): Html {
  const { state, past, isCut, seesDeliveries, sessions } = view;
  const stepOf = new Map(state.invocations.map(({ id, stepId }) => [id, stepId]));
  const attemptOf = new Map(sessions.map((session) => [session.id, session]));
  const nameOf = ({ kind, id }: PastTransition['subject']) => {
    if (kind === 'run') return 'run';
    if (kind === 'invocation') return stepOf.get(id) ?? id;
    const session = attemptOf.get(id);
    return session ? `${stepOf.get(session.invocationId) ?? id}, attempt ${session.attempt}` : id;
  };
  const shown = past.slice(-MAX_SHOWN).toReversed();
  const hidden = past.length - shown.length;
  const { run } = state;
  return html`${hidden > 0 || isCut ? html`<p class="quiet">The newest ${shown.length} of ${isCut ? 'more than ' : ''}${plural(past.length, 'change')}. <code>countersign run show ${run.id} --history</code> lists them all.</p>` : ''}
${wide(
  'What happened',
  html`<table><thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Change</th><th scope="col">By</th></tr></thead><tbody>
${shown.map(({ at, subject, from, to, reason, by }) => {
  const words = by === null ? 'not recorded' : said(actorInWords(by), 100);
  const cause =
    by?.kind === 'event' && by.delivery !== null
      ? html`${by.event}, ${delivery(by.delivery, seesDeliveries)}`
      : by?.kind === 'session'
        ? html`<a href="#${by.id}">${words}</a>`
        : words;
  return html`<tr><td>${exactTime(at)}</td><td>${said(nameOf(subject), 100)}</td><td>${from} → ${to}${reason === null ? '' : html` <span class="quiet">${reason}</span>`}</td><td>${cause}</td></tr>\n`;
})}${hidden > 0 || isCut ? '' : html`<tr><td>${exactTime(run.createdAt)}</td><td>run</td><td>begins</td><td>${trigger(view)}</td></tr>`}</tbody></table>`,
)}`;
}

/** The chain and the settings that the run began with, and the event that began it. */
export function configurationPage({ state, githubUrl }: Pick<RunView, 'state' | 'githubUrl'>): Html {
  const { run } = state;
  const commit = `${githubUrl}/${run.repository}/commit/${run.baseSha}`;
  const json = (value: unknown) => saidLines(JSON.stringify(value, null, 2));
  return html`<h1>Configuration of <a href="/runs/${run.id}">${said(run.chain, 100)}</a></h1>
<p>As it was on ${said(governingBranch(run), 200)} at <a href="${commit}"><code>${short(run.baseSha)}</code></a> when the run began. Later changes do not affect the run.</p>
<section aria-labelledby="chain"><h2 id="chain">Chain</h2><pre tabindex="0">${json(run.definition)}</pre></section>
<section aria-labelledby="settings"><h2 id="settings">Settings</h2><pre tabindex="0">${json(run.settings)}</pre></section>
<section aria-labelledby="event"><h2 id="event">Event</h2><pre tabindex="0">${json(run.event)}</pre></section>`;
}
