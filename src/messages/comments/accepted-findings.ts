import { placeInWords } from '../../domain/outcome/finding.ts';
import { findingId } from '../../domain/outcome/fingerprint.ts';
import type { RunState } from '../../domain/run/run.ts';
import { outcomesOf } from '../run/run-summary.ts';
import { fitting } from '../text/fitting.ts';
import { code, inline } from '../text/markdown.ts';
import { clip, plural } from '../text/pretty.ts';

const LISTED = { items: 10, bytes: 4_000 };

/** The findings that people accepted for this head, as rows of the approval comment. They weigh on the decision like risks. */
export function acceptedRows(state: RunState): string[] {
  const accepted = outcomesOf(state, 'review_verdict').flatMap((review) => review.accepted ?? []);
  if (accepted.length === 0) return [];
  const { lines, left } = fitting(
    accepted,
    ({ finding, by, because }) =>
      `  - ${finding.severity} ${code(clip(placeInWords(finding), 120))} ${code(findingId(finding))}, by ${code(by.login)}: ${inline(because, 300)}`,
    LISTED,
  );
  return [
    `- ☑️ **Accepted:** ${plural(accepted.length, 'finding')}, for this commit`,
    ...lines,
    ...(left === 0 ? [] : [`  - … and ${left} more, in the check run`]),
  ];
}
