import { type Diagnostic, nearest, notAllowed } from '../../core/diagnostic.ts';
import type { ChainCase } from '../../domain/chain-case/case-file.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { written } from '../run/what-is-written.ts';
import { plural } from '../text/pretty.ts';
import { PLAIN, paintMarks, type Screen } from '../text/screen.ts';
import { diagnosticLines } from './diagnostics.ts';
import { type Course, courses, judged, type Played } from './dry-run.ts';

export const NO_CHAIN_CASES =
  'There are no cases here: they are in .github/countersign/tests/*.yml, and docs/chains.md shows how to write them.';

/** @param others the chains that have cases */
export function noCasesOf(chain: string, others: readonly string[]): string {
  const meant = nearest(chain, others);
  const rest = meant
    ? ` Did you mean ${meant}?`
    : others.length === 0
      ? ''
      : ` There are cases of ${others.join(', ')}.`;
  return `The chain ${plainLine(chain)} has no cases in .github/countersign/tests.${rest}`;
}

export function noCaseNamed(words: string): string {
  return `No case has "${plainLine(words)}" in its name.`;
}

/** What became of a case. */
export interface PlayedCase {
  played: Played;
  /** The steps that the case gives something that is no outcome, and why. */
  invalid: readonly { step: string; because: string }[];
}

/** What a case expected and what it got; `null` for nothing. For `outcome`, the step whose given outcome cannot be used. */
export interface CaseDifference {
  what: string;
  expected: string | null;
  actual: string | null;
  /** Why, if that is known. */
  because?: string;
}

/**
 * In the order of the case's expectations. First what is wrong with the case itself: it would otherwise test something else than it
 * says.
 */
export function caseDifferences(
  { expect, outcomes = {} }: ChainCase,
  { played, invalid }: PlayedCase,
): CaseDifference[] {
  const differences: CaseDifference[] = invalid.map(({ step, because }) => ({
    what: 'outcome',
    expected: null,
    actual: step,
    because: `it is not valid: ${because}`,
  }));
  const all = played.kind === 'ran' ? courses(played) : [];
  const steps = [...new Set(all.flatMap(({ state }) => state.invocations.map(({ stepId }) => stepId)))];
  for (const step of steps.length === 0 ? [] : Object.keys(outcomes).filter((id) => !steps.includes(id))) {
    const because = notAllowed('there is no such step', steps, step);
    differences.push({ what: 'outcome', expected: null, actual: step, because });
  }
  const compare = (what: string, expected: string | undefined, actual: string | null) => {
    if (expected !== undefined && expected !== actual) differences.push({ what, expected, actual });
  };
  const { result, because } = judged(played);
  // Cases from before there was a word for it expect only that every step ends.
  const isDone = expect.result === 'done' && result === 'not_passed';
  if (expect.result !== undefined && expect.result !== result && !isDone)
    differences.push({ what: 'result', expected: expect.result, actual: result, because });
  if (expect.because !== undefined && !because.includes(expect.because))
    differences.push({ what: 'because', expected: expect.because, actual: because });
  const runs = played.kind === 'ran' ? played.runs : 0;
  compare('runs', expect.runs?.toString(), `${runs}`);
  for (const [id, status] of Object.entries(expect.steps ?? {}))
    compare(`step ${id}`, status, played.kind === 'ran' ? statusOf(played, id.split('.')) : null);
  const effects = all.flatMap((course) => course.effects);
  const texts = effects.map((effect) => written(effect).join('\n'));
  const isWritten = (words: string) => texts.some((text) => text.includes(words));
  for (const words of [expect.writes ?? []].flat())
    if (!isWritten(words)) differences.push({ what: 'writes', expected: words, actual: null });
  for (const words of [expect.writes_not ?? []].flat())
    if (isWritten(words)) differences.push({ what: 'writes', expected: null, actual: words });
  return differences;
}

/** @param path the step, after the steps that run its chain */
function statusOf({ state, calls }: Course, [id, ...inner]: readonly string[]): string | null {
  if (inner.length === 0) return state.invocations.find(({ stepId }) => stepId === id)?.status ?? null;
  const call = calls.find(({ step }) => step === id);
  return call ? statusOf(call, inner) : null;
}

/** `chain test`: a line for each case with its differences below, and a line with the totals. */
export function testedChains(
  results: readonly {
    chain: string;
    case: string;
    differences: readonly CaseDifference[];
    /** Its course, if somebody asked for that. */
    shown?: string;
  }[],
  faults: readonly Diagnostic[],
  screen: Screen = PLAIN,
): string {
  const failed = results.filter(({ differences }) => differences.length > 0).length;
  const text = [
    ...diagnosticLines(faults),
    ...results.flatMap(({ chain, case: name, differences, shown }) => [
      `${differences.length === 0 ? 'ok    ' : 'FAILED'}  ${chain}: ${plainLine(name)}`,
      ...differences.map((one) => `        ${difference(one)}`),
      ...(shown === undefined ? [] : ['', shown, '']),
    ]),
    '',
    `Ran ${plural(results.length, 'case')}: ${failed === 0 ? 'none failed' : `${failed} failed`}.`,
  ].join('\n');
  return paintMarks(text, screen);
}

function difference({ what, expected, actual, because }: CaseDifference): string {
  const said = (text: string | null) => (text === null ? 'nothing' : `"${plainLine(text)}"`);
  if (what === 'writes')
    return expected === null ? `it writes ${said(actual)}` : `nothing that it writes has ${said(expected)}`;
  if (what === 'outcome')
    return `the case gives the step ${said(actual)} an outcome, but ${plainLine(because ?? '')}`;
  const why = because === undefined ? '' : `: ${plainLine(because)}`;
  return `${what}: expected ${said(expected)}, got ${said(actual)}${why}`;
}
