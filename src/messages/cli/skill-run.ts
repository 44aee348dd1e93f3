import { placeInWords } from '../../domain/outcome/finding.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { asSentence } from '../text/pretty.ts';

/** `skill run`: the outcome with each finding or criterion, and the skill's log. */
export function skillRunText(
  name: string,
  { outcome, because, log }: { outcome: Outcome | null; because: string | null; log: string },
): string {
  const logLines = log.trim() === '' ? [] : ['', 'It said:', ...log.trimEnd().split('\n').map(plainLine)];
  if (!outcome)
    return [asSentence(`the skill ${name} has no outcome: ${plainLine(because ?? '')}`), ...logLines].join(
      '\n',
    );
  const passed = outcome.passed === null ? 'no verdict' : outcome.passed ? 'passed' : 'not passed';
  return [
    `${outcome.outcome_kind}: ${passed}. ${plainLine(outcome.summary)}`,
    ...linesOf(outcome),
    ...logLines,
  ].join('\n');
}

function linesOf(outcome: Outcome): string[] {
  if (outcome.outcome_kind === 'review_verdict') {
    return outcome.findings.map(
      ({ severity, description, rule, ...place }) =>
        `- ${severity} ${plainLine(placeInWords(place))}: ${plainLine(description)} (${plainLine(rule)})`,
    );
  }
  if (outcome.outcome_kind !== 'gate_verdict') return [];
  return outcome.criteria.map(
    ({ id, passed, description, evidence }) =>
      `- ${passed ? 'met' : 'not met'} ${plainLine(id)}: ${plainLine(description)}${evidence.trim() === '' ? '' : ` (${plainLine(evidence)})`}`,
  );
}

export const ONE_SUBJECT = 'Say what to check: either --pr owner/name#number or --diff <file>.';

export function noDiff(file: string): string {
  return asSentence(`${plainLine(file)} is not what git diff writes`);
}
