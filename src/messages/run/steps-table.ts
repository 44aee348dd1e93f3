import { formatDuration } from '../../core/duration.ts';
import { unreachable } from '../../core/errors.ts';
import { stepsOnTheWay } from '../../domain/run/explain.ts';
import type { Invocation, RunState } from '../../domain/run/run.ts';
import { fitting } from '../text/fitting.ts';
import { link, safeAddress } from '../text/link.ts';
import { code, inline, tableProse } from '../text/markdown.ts';
import { clip, STEP_WORDS } from '../text/pretty.ts';
import { withRest } from '../text/section.ts';

/** Per line of a comment. The check run has all links. */
const MAX_PAGES = 3;

/** Every step with its status, the reason for it, and how long it took. */
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

/** The steps as a short list with their results, for a comment. */
export function stepsList(state: RunState, limit: { items: number; bytes: number }): string {
  const onTheWay = stepsOnTheWay(state);
  const shown = fitting(
    // A skipped comment or label is not worth a line.
    state.invocations.filter((step) => step.status !== 'skipped' || onTheWay.includes(step)),
    (step) => `- ${face(step).mark} ${id(step)} ${inline(resultText(step), 200)}${pagesOf(step)}`,
    limit,
  );
  return withRest(shown, 'listed in the check run');
}

/** The mark and words of a step's status. A completed step that has not passed must not look as if it had. */
export function face({ status, outcome, reason }: Invocation): { mark: string; words: string } {
  if (reason?.code === 'step.skipped.rollout') return { mark: '👁️', words: 'withheld' };
  if (reason?.code === 'step.waiting.gate') return { mark: '✋', words: 'waiting for a gate' };
  if (reason?.code === 'step.waiting.until' || reason?.code === 'step.waiting.chain')
    return { mark: '⏳', words: 'waiting' };
  if (reason?.code === 'step.waiting.conflict') return { mark: '✋', words: 'held up' };
  if (reason?.code === 'step.waiting.github' || reason?.code === 'step.waiting.mergeability')
    return { mark: '⏳', words: 'waiting for GitHub' };
  if (status !== 'completed' || outcome === null || outcome.passed === true) return STEP_WORDS[status];
  if (outcome.passed === false) return { mark: '❌', words: 'not passed' };
  return outcome.outcome_kind === 'ci_result' && outcome.checks.length === 0
    ? { mark: '⚪', words: 'nothing to read' }
    : { mark: '❔', words: 'no verdict' };
}

/**
 * Leaves out the condition of a skipped step, which is long and unimportant in a comment. The check run has
 * it.
 */
function resultText(step: Invocation): string {
  const { status, outcome, reason } = step;
  const { words } = face(step);
  // The heading of the comment has the rest.
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
      return outcome === null ? words : outcome.summary;
    case 'timed_out':
    case 'cancelled':
      return words;
    default:
      return unreachable(status);
  }
}

/** Links to the pages, mostly of checks, that a step waits for or that explain its failure. */
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
