import type { Criterion, GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import { gateName } from '../../domain/policy/gate/verdict.ts';
import type { RunState } from '../../domain/run/run.ts';
import { fitting } from '../text/fitting.ts';
import { code, inline } from '../text/markdown.ts';
import { asSentence, clip } from '../text/pretty.ts';
import { withRest } from '../text/section.ts';
import { outcomesOf } from './run-summary.ts';

/** All verdicts of the run: those of its gates, and those that are outcomes of its steps. */
function verdictsOf(state: RunState): GateVerdict[] {
  return [...(state.verdicts ?? []), ...outcomesOf(state, 'gate_verdict')];
}

const MARKS: Readonly<Record<GateVerdict['on_failure'], string>> = {
  block: '❌',
  warn: '⚠️',
  degrade: '🔻',
  require_human: '✋',
};

const STATES: Readonly<Record<GateVerdict['on_failure'], string>> = {
  block: 'not passed',
  warn: 'a warning',
  degrade: 'not passed, so the outcome does not count as passed',
  require_human: 'a person is asked',
};

/** The section of a check run; `undefined` if no gate was judged. */
export function gatesSection(state: RunState): string | undefined {
  const verdicts = verdictsOf(state);
  if (verdicts.length === 0) return undefined;
  const cards = fitting(verdicts, gateCard, { items: 40, bytes: 12_000 });
  return `### Gates\n\n${withRest(cards, 'which `/countersign why` says')}`;
}

function gateCard(verdict: GateVerdict): string {
  const { gate_passed, at, step, notes, next_action, criteria } = verdict;
  const shown = fitting(criteria, criterionLine, { items: 20, bytes: 3_000 });
  const about = `${at === 'pre' ? 'before' : 'after'} ${code(clip(step, 60))}`;
  return [
    `- ${markOf(verdict)} **${inline(gateName(verdict), 100)}**, ${about}: ${stateOf(verdict)}`,
    ...notes.slice(0, 3).map((note) => `  ${inline(asSentence(note), 300)}`),
    ...(gate_passed ? shown.lines : [...shown.lines, ...next(next_action)]),
    ...(shown.left === 0 ? [] : [`  - … and ${shown.left} more`]),
  ].join('\n');
}

function criterionLine({ passed, description, evidence }: Criterion): string {
  const proof = evidence === '' ? '' : ` (${code(clip(evidence, 200))})`;
  return `  - ${passed ? '✅' : '❌'} ${inline(description, 300)}${proof}`;
}

function next(action: string | null): string[] {
  return action === null ? [] : [`  - **Next:** ${inline(action, 300)}`];
}

function markOf({ gate_passed, on_failure }: GateVerdict): string {
  return gate_passed ? '✅' : MARKS[on_failure];
}

function stateOf({ gate_passed, on_failure }: GateVerdict): string {
  return gate_passed ? 'passed' : STATES[on_failure];
}

/** For the approval comment: one line per gate. */
export function gateGrounds(state: RunState): string[] {
  return verdictsOf(state).map((verdict) => {
    const failed = verdict.criteria.filter(({ passed }) => !passed).map(({ description }) => description);
    const because = verdict.gate_passed ? '' : `: ${failed.join('; ')}`;
    const name = inline(gateName(verdict), 100);
    return `- ${markOf(verdict)} **Gate ${name}:** ${inline(`${stateOf(verdict)}${because}`, 300)}`;
  });
}

/** The rows of `run show`. */
export function gateRows(state: RunState): string[][] {
  return verdictsOf(state).map((verdict) => [
    gateName(verdict),
    `${verdict.at === 'pre' ? 'before' : 'after'} ${verdict.step}`,
    stateOf(verdict),
    verdict.gate_passed
      ? ''
      : verdict.criteria
          .filter(({ passed }) => !passed)
          .map(({ description }) => description)
          .join('; '),
  ]);
}
