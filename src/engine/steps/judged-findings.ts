import { type Acceptance, judgedAgain } from '../../domain/outcome/accept.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { ignoredByRule, judgedAgainSummary } from '../../messages/cards/accepted.ts';

/**
 * A review with its verdict judged again, by what people accepted for this head and the rules that the settings ignore.
 * A review to which neither applies stays as it is.
 */
export function reviewWithAccepted(
  review: ReviewVerdict,
  acceptances: readonly Acceptance[],
  ignoredRules: readonly string[] = [],
): ReviewVerdict {
  const judged = judgedAgain(review, acceptances, ignoredRules);
  const { accepted, ignored, findings, verdict, passed, isIncomplete, isStated } = judged;
  if (accepted.length === 0 && ignored.size === 0 && !review.accepted) return review;
  const { content_hash: _, accepted: before, incomplete, requested_changes, ...rest } = review;
  const notes = [...(rest.notes ?? []), ...ignoredByRule(ignored)];
  return makeOutcome<'review_verdict'>({
    ...rest,
    findings,
    verdict,
    passed,
    ...(isIncomplete && { incomplete: true }),
    ...(isStated && { requested_changes: true }),
    ...(accepted.length > 0 && { accepted }),
    ...(notes.length > 0 && { notes }),
    summary: judgedAgainSummary(judged),
  });
}
