import type { Annotation } from '../domain/effect/effect.ts';
import { type Finding, isBlocking, type Severity } from '../domain/outcome/finding.ts';
import { plainLine } from '../domain/run/explain.ts';
import { clip } from './pretty.ts';
import { MOST_SHOWN, worstFirst } from './review-card.ts';

/**
 * Annotations of one check run at most. GitHub takes any number in batches of 50, but a diff with more of them than
 * this is not read any more; the worst come first, and all findings are in the outcome.
 */
export const MAX_ANNOTATIONS = 500;

const LEVEL: Readonly<Record<Severity, Annotation['level']>> = {
  critical: 'failure',
  high: 'failure',
  medium: 'warning',
  low: 'notice',
  info: 'notice',
};

/**
 * The findings at their places in the diff. Annotations are plain text on GitHub, so nothing is encoded as Markdown;
 * control and direction characters are taken out. GitHub's limits: a title of 255 characters, a message of 64 KB.
 */
export function annotations(findings: readonly Finding[]): Annotation[] {
  return annotated(findings).map(annotation);
}

/** Those of the findings that are shown in the diff, the worst first. Of a model's, no more than are listed (docs/adr/0015). */
export function annotated(findings: readonly Finding[]): Finding[] {
  let left = MOST_SHOWN;
  return worstFirst(findings)
    .filter(({ rule }) => !rule.startsWith('model/') || left-- > 0)
    .slice(0, MAX_ANNOTATIONS);
}

function annotation(finding: Finding): Annotation {
  const { severity, category, description, suggestion, rule } = finding;
  const start = finding.line ?? 1;
  return {
    path: finding.file,
    start_line: start,
    // A file-level finding has no lines, and GitHub refuses an end before its start.
    end_line: finding.line === undefined ? start : Math.max(start, finding.end_line ?? start),
    level: LEVEL[severity],
    title: clip(plainLine(`${severity}: ${category} (${rule})`), 255),
    message: [
      plainLine(description),
      ...(suggestion === ''
        ? []
        : [`${isBlocking(finding) ? 'Fix' : 'Suggestion'}: ${plainLine(suggestion)}`]),
    ].join('\n\n'),
  };
}
