import type { Diagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { plural } from '../text/pretty.ts';
import { PLAIN, paintMarks, type Screen } from '../text/screen.ts';
import { diagnosticLines } from './diagnostics.ts';

interface TestedCase {
  skill: string;
  case: string;
}

export type Tested = TestedCase &
  (
    | { kind: 'passed' }
    | {
        kind: 'failed';
        differences: readonly {
          what: 'verdict' | 'passed' | 'finding' | 'failure' | 'answers';
          expected: string | null;
          actual: string | null;
        }[];
      }
    | { kind: 'left_out'; because: 'no_model' | 'no_ci' | 'no_outcome' | 'kind_not_known' }
  );

/**
 * `skill test`: the diagnostics of broken skills, a line per case with its differences below, and a line with
 * the totals.
 * @param broken skills with diagnostics; never the one that was named
 */
export function testedText(
  results: readonly Tested[],
  skill: string | undefined,
  broken: readonly { diagnostics: readonly Diagnostic[] }[] = [],
  screen: Screen = PLAIN,
): string {
  if (results.length === 0 && broken.length === 0) {
    return skill === undefined
      ? 'There are no cases here.'
      : `The skill ${plainLine(skill)} has no cases yet: they stand in its tests/*.yml, and docs/skills.md shows how.`;
  }
  const count = (kind: Tested['kind']) => results.filter((one) => one.kind === kind).length;
  const [failed, leftOut] = [count('failed'), count('left_out')];
  const rest = [
    failed > 0 ? `${failed} failed` : 'none failed',
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
  ].join(', ');
  const text = [
    ...broken.flatMap(({ diagnostics }) => diagnosticLines(diagnostics)),
    ...results.flatMap(linesOf),
    '',
    `Ran ${plural(results.length - leftOut, 'case')}: ${rest}.`,
    ...(broken.length > 0
      ? [
          `${plural(broken.length, 'skill has errors and was not tried', 'skills have errors and were not tried')}.`,
        ]
      : []),
  ].join('\n');
  return paintMarks(text, screen);
}

function linesOf(result: Tested): string[] {
  const name = `${result.skill}: ${plainLine(result.case)}`;
  switch (result.kind) {
    case 'passed':
      return [`ok        ${name}`];
    case 'left_out':
      return [`left out  ${name} (${LEFT_OUT[result.because]})`];
    case 'failed':
      return [`FAILED    ${name}`, ...result.differences.map((one) => `          ${difference(one)}`)];
    default:
      return unreachable(result);
  }
}

const LEFT_OUT = {
  no_model: 'it asks a model, and the case has no answers of one',
  no_ci: 'it needs what CI leaves behind',
  no_outcome: 'its SKILL.md names no outcome',
  kind_not_known: 'nothing here carries out what its skill begins with',
};

function difference({
  what,
  expected,
  actual,
}: Extract<Tested, { kind: 'failed' }>['differences'][number]): string {
  if (what === 'answers') {
    return `${plural(Number(actual), 'answer')} too many: a case holds one for each question, and no more were asked`;
  }
  const [wanted, came] = [plainLine(expected ?? 'none'), plainLine(actual ?? 'none')];
  if (what === 'finding') return expected === null ? `a finding too many: ${came}` : `not found: ${wanted}`;
  if (what === 'failure' && expected === null) return `it failed: ${came}`;
  return `${what}: expected ${wanted}, and it was ${came}`;
}
