import { html } from 'hono/html';
import type { Approval } from '../../domain/policy/approval.ts';
import { isMergeStep, isRunOver, type Run, type RunState } from '../../domain/run/run.ts';
import { short } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { said } from './untrusted.ts';

/** Who acts from a page. `undefined` instead of it: somebody who only reads, and sees no buttons. */
export interface Acting {
  /** Proves that the form is of a page for this person. */
  csrf: string;
  /** The path to come back to. */
  to: string;
}

/** What buttons ask for: the same as the command of that name. */
export const BUTTONS = ['rerun', 'review', 'ci', 'pause', 'resume', 'cancel'] as const;
export type Button = (typeof BUTTONS)[number];

const LABELS: Readonly<Record<Button, string>> = {
  rerun: 'Run again what failed',
  review: 'Review again',
  ci: 'Read CI again',
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel',
};

/** What the buttons are about. */
export type ActedOn =
  | { kind: 'pull_request'; repositoryId: number; number: number; headSha: string }
  /** A run without a pull request. */
  | { kind: 'run'; id: string };

/** What a run's buttons are about. */
export function actedOn({ id, repositoryId, pullRequest, headSha }: Run): ActedOn {
  return pullRequest === null
    ? { kind: 'run', id }
    : { kind: 'pull_request', repositoryId, number: pullRequest, headSha };
}

/** The buttons that can do something for a run as it is. Whether the person may is judged when they press one. */
export function buttonsFor({ run }: Pick<RunState, 'run'>): Button[] {
  const isOver = isRunOver(run.status);
  if (run.pullRequest === null) return [isOver ? 'rerun' : 'cancel'];
  if (isOver) return run.status === 'completed' ? ['review', 'ci'] : ['rerun', 'review', 'ci'];
  return ['rerun', 'review', 'ci', run.paused ? 'resume' : 'pause', 'cancel'];
}

/** Buttons that do what the commands of these names do, with the same rights. */
export function commandButtons(buttons: readonly Button[], on: ActedOn, acting: Acting | undefined): Html {
  if (!acting || buttons.length === 0) return html``;
  return html`<form class="actions" method="post" action="/commands" aria-label="Commands">
${hidden(acting)}${about(on)}
${buttons.map((verb) => html`<button name="verb" value="${verb}"${verb === 'cancel' ? html` class="danger"` : ''}>${labelOf(verb, on)}</button>\n`)}</form>`;
}

/** A button that runs one step again, with the steps that depend on it. */
export function rerunStepButton(
  step: string,
  on: Extract<ActedOn, { kind: 'pull_request' }>,
  acting: Acting | undefined,
): Html {
  if (!acting) return html``;
  return html`<form class="actions" method="post" action="/commands">
${hidden(acting)}${about(on)}<input type="hidden" name="step" value="${step}">
<button name="verb" value="rerun">Run <b>${said(step, 60)}</b> again</button>
</form>`;
}

/**
 * The open question of a run with its two answers. Each is the person's own reaction on the approval comment, and
 * nothing else.
 */
export function answerForm(
  { run, invocations }: Pick<RunState, 'run' | 'invocations'>,
  approval: Approval | null | undefined,
  acting: Acting | undefined,
): Html {
  if (!acting || approval?.status !== 'open') return html``;
  const step = invocations.find(({ id }) => id === approval.invocationId);
  const merges = isMergeStep(run, step);
  return html`<form class="answer" method="post" action="/answers" aria-label="Answer the question">
${hidden(acting)}<input type="hidden" name="run" value="${run.id}"><input type="hidden" name="approval" value="${approval.id}">
<p>${merges ? html`May <code>${short(approval.headSha)}</code> be merged into <code>${said(approval.baseRef, 200)}</code>?` : html`May <b>${said(step?.stepId ?? '', 60)}</b> go on with <code>${short(approval.headSha)}</code>?`}
<span class="quiet">Your answer is your own reaction on the comment on GitHub, and counts like any other.</span></p>
<button name="says" value="approve" class="primary">Countersign</button>
<button name="says" value="reject" class="danger">Reject</button>
</form>`;
}

function hidden({ csrf, to }: Acting): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="to" value="${to}">`;
}

function about(on: ActedOn): Html {
  return on.kind === 'run'
    ? html`<input type="hidden" name="run" value="${on.id}">`
    : html`<input type="hidden" name="repository" value="${on.repositoryId}"><input type="hidden" name="pull" value="${on.number}"><input type="hidden" name="head" value="${on.headSha}">`;
}

function labelOf(verb: Button, on: ActedOn): string {
  if (on.kind === 'run') return verb === 'rerun' ? 'Run again' : 'Cancel this run';
  return verb === 'cancel' ? `Cancel all runs of #${on.number}` : LABELS[verb];
}

/** What became of what somebody asked for, at the top of the page that they come back to. */
export function askedFor(answer: { ok: boolean; text: string } | null): Html {
  if (!answer)
    return html`<p class="flash" role="status">Countersign is at work on what you asked for. Reload this page to see what became of it.</p>`;
  return html`<p class="flash ${answer.ok ? 'ok' : 'failed'}" role="${answer.ok ? 'status' : 'alert'}"><span aria-hidden="true">${answer.ok ? '✓' : '✗'}</span> ${said(answer.text.replaceAll('`', ''), 1_000)}</p>`;
}

/** Stored as the answer to what somebody asked for. */
export const ANSWERED = {
  reacted: (says: 'approve' | 'reject', login: string) =>
    says === 'approve'
      ? `The approval comment has a reaction of ${login} now. The gate judges it like every other; this page shows what it says in a moment.`
      : `The approval comment has a rejecting reaction of ${login} now. The gate judges it like every other; this page shows what it says in a moment.`,
  closed: 'This question is no longer open, so nothing was answered.',
  noComment: 'GitHub has no comment for this question yet. Try again in a moment.',
  refused: (message: string) => `GitHub did not accept your reaction: ${message}`,
  tooOften: 'You asked for too much within a minute. Try again in a moment.',
  noAnswer: 'GitHub did not answer, so your reaction may be missing. Look at the comment, or try again.',
} as const;
