import { formatDuration } from '../core/duration.ts';
import { unreachable } from '../core/errors.ts';
import { stepsOnTheWay } from '../domain/run/explain.ts';
import type { Invocation, RunState } from '../domain/run/run.ts';
import { fitting } from './fitting.ts';
import { link, safeAddress } from './link.ts';
import { code, inline, tableProse } from './markdown.ts';
import { clip, STEP_WORDS } from './pretty.ts';
import { withRest } from './section.ts';

/** Links in one line of a comment; the check run has them all. */
const MAX_PAGES = 3;

/** Every step with its state, why it is in it, and how long it took. */
export function stepsTable({ invocations }: RunState): string {
  const { lines, left } = fitting(invocations, row, { items: 50, bytes: 9_000 });
  const rest = left === 0 ? [] : [`| | … and ${left} more | | | |`];
  return ['| | Step | State | Why | Took |\n|---|---|---|---|---:|', ...lines, ...rest].join('\n');
}

function row(step: Invocation): string {
  const { mark, words } = face(step);
  return `| ${mark} | ${id(step)} | ${words} | ${tableProse(step.reason?.summary ?? '', 120)} | ${took(step)} |`;
}

function took({ startedAt, finishedAt }: Invocation): string {
  return startedAt && finishedAt ? formatDuration(finishedAt.getTime() - startedAt.getTime()) : '';
}

/** The steps as a short list of what each came to, for a comment. */
export function stepsList(state: RunState, limit: { items: number; bytes: number }): string {
  const onTheWay = stepsOnTheWay(state);
  const shown = fitting(
    // That there was no reason to write a comment is no news.
    state.invocations.filter((step) => step.status !== 'skipped' || onTheWay.includes(step)),
    (step) => `- ${face(step).mark} ${id(step)} ${inline(cameTo(step), 200)}${pagesOf(step)}`,
    limit,
  );
  return withRest(shown, 'listed in the check run');
}

/** A step that is done may have come to a no, and must not look like a yes. */
export function face({ status, outcome, reason }: Invocation): { mark: string; words: string } {
  if (reason?.code === 'step.waiting.gate') return { mark: '✋', words: 'waiting for a gate' };
  if (reason?.code === 'step.waiting.conflict') return { mark: '✋', words: 'held up' };
  if (reason?.code === 'step.waiting.github' || reason?.code === 'step.waiting.mergeability')
    return { mark: '⏳', words: 'waiting for GitHub' };
  if (status !== 'completed' || outcome === null || outcome.passed === true) return STEP_WORDS[status];
  if (outcome.passed === false) return { mark: '❌', words: 'not passed' };
  return outcome.outcome_kind === 'ci_result' && outcome.checks.length === 0
    ? { mark: '⚪', words: 'nothing to read' }
    : { mark: '❔', words: 'no verdict' };
}

/** A skipped step's condition is for the check run: in a comment it would be the loudest line and say the least. */
function cameTo(step: Invocation): string {
  const { status, outcome, reason } = step;
  const { words } = face(step);
  // The head of the comment says the rest.
  if (reason?.code === 'step.waiting.github') return words;
  switch (status) {
    case 'completed':
      return outcome?.summary ?? words;
    case 'waiting_ci':
    case 'waiting_until':
    case 'failed':
      return reason === null ? words : `${words}: ${reason.summary}`;
    case 'pending':
    case 'running':
    case 'waiting_approval':
    case 'skipped':
    case 'timed_out':
    case 'cancelled':
      return words;
    default:
      return unreachable(status);
  }
}

/** A comment links what is awaited, or went wrong, where it says on what page that is: to checks, mostly. */
function pagesOf({ status, reason }: Invocation): string {
  if (reason === null || !['waiting_ci', 'waiting_until', 'failed'].includes(status)) return '';
  const linked = reason.evidence
    .filter(({ url }) => url !== undefined && safeAddress(url) !== undefined)
    .slice(0, MAX_PAGES)
    .map(({ label, url = null }) => link(code(clip(label, 60)), url));
  return linked.length === 0 ? '' : ` (${linked.join(', ')})`;
}

function id({ stepId }: Invocation): string {
  return code(clip(stepId, 60));
}
