import type { Annotation } from '../../domain/effect/effect.ts';
import { type Finding, isBlocking, type Severity } from '../../domain/outcome/finding.ts';
import { findingId } from '../../domain/outcome/fingerprint.ts';
import { shownFindings } from '../../domain/outcome/learned.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { MAX_SHOWN, worstFirst } from '../cards/review-card.ts';
import { clip } from '../text/pretty.ts';

/**
 * Per check run. GitHub accepts any number in batches of 50, but nobody reads a diff with more than this. The
 * most severe come first, and the outcome has all findings.
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
 * The findings at their positions in the diff. GitHub shows annotations as plain text, so nothing is encoded
 * as Markdown, but control and direction characters are removed. GitHub's limits: 255 characters for a title,
 * 64 KB for a message.
 */
export function annotations(reviews: readonly Reviewed[]): Annotation[] {
  return annotated(reviews).map(annotation);
}

/**
 * The findings of a run's reviews that are shown in the diff, most severe first. Of a model's findings, only as many as the review card
 * lists (docs/adr/0015).
 */
export function annotated(reviews: readonly Reviewed[]): InFile[] {
  let left = MAX_SHOWN;
  const learned = reviews.flatMap((review) => review.learned ?? []);
  return worstFirst(reviews.flatMap(shownFindings), learned)
    .filter((finding): finding is InFile => finding.file !== null)
    .filter(({ rule }) => !rule.startsWith('model/') || left-- > 0)
    .slice(0, MAX_ANNOTATIONS);
}

type Reviewed = Pick<ReviewVerdict, 'findings' | 'learned'>;

/** GitHub has no annotation without a file. */
type InFile = Finding & { file: string };

function annotation(finding: InFile): Annotation {
  const { severity, category, description, suggestion, rule } = finding;
  const start = finding.line ?? 1;
  return {
    path: finding.file,
    start_line: start,
    // A finding about the whole file has no lines, and GitHub refuses an end before its start.
    end_line: finding.line === undefined ? start : Math.max(start, finding.end_line ?? start),
    level: LEVEL[severity],
    title: clip(plainLine(`${severity}: ${category} (${rule})`), 255),
    message: [
      plainLine(description),
      ...(suggestion === null || suggestion === ''
        ? []
        : [`${isBlocking(finding) ? 'Fix' : 'Suggestion'}: ${plainLine(suggestion)}`]),
      isBlocking(finding)
        ? `If it is intended: /countersign accept ${findingId(finding)} because …`
        : `Finding ${findingId(finding)}`,
    ].join('\n\n'),
  };
}
