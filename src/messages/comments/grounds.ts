import type { CognitiveState } from '../../domain/expression/state-schema.ts';
import { SEVERITIES, type Severity } from '../../domain/outcome/finding.ts';
import { VERDICTS } from '../../domain/outcome/review-verdict.ts';
import { memoryOf } from '../../domain/run/context.ts';
import type { RunState } from '../../domain/run/run.ts';
import { NO_MODEL_ASKED, NO_MODEL_WANTED } from '../cards/review.ts';
import { artifactsInWords } from '../run/artifacts.ts';
import { gateGrounds } from '../run/gates.ts';
import { fitting } from '../text/fitting.ts';
import { code, inline } from '../text/markdown.ts';
import { kindInWords } from '../text/outcome-kind.ts';
import { asSentence, clip, plural, SEVERITY_MARK, VERDICT_WORDS } from '../text/pretty.ts';
import { acceptedRows } from './accepted-findings.ts';

/** In the approval comment. The check run lists all risks. */
const MAX_RISKS = 3;
const LIMIT = { items: 20, bytes: 12_000 };

type Result = CognitiveState['output']['results'][number];
type Risk = CognitiveState['working']['risks'][number];

/**
 * The basis of a maintainer's decision, from the run's working memory: each step's decision or observation,
 * then the risks.
 */
export function grounds(state: RunState): string {
  const memory = memoryOf(state);
  // Verdicts of gates are shown together below, including those that are outcomes of steps.
  const results = memory.output.results.filter(({ outcome_kind }) => outcome_kind !== 'gate_verdict');
  const rows = [
    ...results.flatMap((result) => {
      const words = stepSummary(result, memory);
      if (words === undefined) return [];
      const mark = words.passed === true && isPartial(state, result.step) ? '⚠️' : markOfPassed(words.passed);
      const by = isWithoutModel(state, result.step) ? ' (analyzers only, no language model)' : '';
      return [row(mark, `${labelOf(result, results)}${by}`, words.text)];
    }),
    ...gateGrounds(state),
  ];
  const artifacts = artifactsInWords(state);
  const left =
    artifacts === undefined ? [] : [row(markOfPassed(artifacts.met), 'Artifacts', artifacts.words)];
  const risks = [...acceptedRows(state), ...riskRows(memory)];
  if (rows.length + left.length + risks.length === 0) return 'This chain has no review and no CI.';
  return [...fitting(rows, (line) => line, LIMIT).lines, ...left, ...risks].join('\n');
}

/**
 * One line per step: its decision, otherwise its first observation, which is a summary, otherwise that it has
 * no verdict.
 */
function stepSummary(
  { outcome_kind, passed, step }: Result,
  { working }: CognitiveState,
): { passed: boolean | null; text: string } | undefined {
  const decision = working.decisions.find((entry) => entry.step === step);
  if (decision) return { passed: decision.passed, text: decisionText(decision) };
  if (passed === null) {
    const unknown = working.uncertainties.filter((entry) => entry.step === step);
    const because = unknown[0] === undefined ? '' : `: ${unknown[0].text}`;
    const more = unknown.length > 1 ? `, and ${plural(unknown.length - 1, 'other thing')}` : '';
    return { passed, text: `no verdict${because}${more}` };
  }
  const seen = working.evidence.find((entry) => entry.step === step);
  if (!seen) return undefined;
  const allowed = outcome_kind === 'ci_result' && seen.supports === null;
  return { passed: seen.supports, text: allowed ? `${seen.text}; the settings allow that` : seen.text };
}

function decisionText({ text, verdict }: CognitiveState['working']['decisions'][number]): string {
  const known = VERDICTS.find((word) => word === verdict);
  return known === undefined ? text : `${VERDICT_WORDS[known]}: ${asClause(text)}`;
}

/** Whether only analyzers made a review. People should not take that for the opinion of a model. */
function isWithoutModel({ invocations }: RunState, step: string): boolean {
  return invocations.some(
    ({ stepId, outcome }) =>
      stepId === step &&
      outcome?.outcome_kind === 'review_verdict' &&
      outcome.notes?.some((note) => note === NO_MODEL_ASKED || note === NO_MODEL_WANTED),
  );
}

/** A sentence as the end of another. */
function asClause(text: string): string {
  const [first = ''] = text;
  return `${first.toLowerCase()}${text.slice(first.length)}`.replace(/\.$/, '');
}

/** With the step's name if several steps have this kind of outcome. */
function labelOf({ outcome_kind, step }: Result, results: readonly Result[]): string {
  const isOnly = results.filter((other) => other.outcome_kind === outcome_kind).length === 1;
  const label = kindInWords(outcome_kind);
  return isOnly ? label : `${label} ${code(clip(step, 50))}`;
}

function riskRows({ trace, working: { risks } }: CognitiveState): string[] {
  if (risks.length === 0) return [];
  const cut = trace
    .flatMap(({ wrote }) => wrote)
    .reduce((sum, w) => sum + (w.slot === 'risks' ? w.cut : 0), 0);
  const all = risks.length + cut;
  const shown = risks.toSorted((a, b) => weight(a) - weight(b)).slice(0, MAX_RISKS);
  const left = all - shown.length;
  return [
    `- ⚠️ **Risks:** ${all === 1 ? 'one is' : `${all} are`} known${left > 0 ? ', the worst first' : ''}`,
    ...shown.map((risk) => `  - ${riskInWords(risk)}`),
    ...(left > 0 ? [`  - … and ${left} more, in the check run`] : []),
  ];
}

/** Risks without a severity come last. */
function weight({ severity }: Risk): number {
  return severity === null ? SEVERITIES.length : SEVERITIES.indexOf(severity);
}

function riskInWords({ file, line, severity, text }: Risk): string {
  const location = file === null ? '' : `${code(clip(line === null ? file : `${file}:${line}`, 120))} `;
  return `${markOf(severity)} ${location}${inline(asSentence(text), 200)}`;
}

function markOf(severity: Severity | null): string {
  return severity === null ? '❔' : SEVERITY_MARK[severity];
}

/** Whether a review passed something that it did not examine in full. Such a review gets no ✅. */
function isPartial({ invocations }: RunState, step: string): boolean {
  return invocations.some(
    ({ stepId, outcome }) =>
      stepId === step &&
      outcome?.outcome_kind === 'review_verdict' &&
      outcome.left_out.some(({ seen_by }) => seen_by !== undefined),
  );
}

function markOfPassed(passed: boolean | null): string {
  return passed === null ? '⚪' : passed ? '✅' : '❌';
}

function row(mark: string, label: string, words: string): string {
  return `- ${mark} **${label}:** ${inline(words, 300)}`;
}
