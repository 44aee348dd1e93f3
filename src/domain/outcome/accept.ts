import { type Finding, isBlocking, SEVERITIES, type Severity } from './finding.ts';
import { fingerprintHash } from './fingerprint.ts';
import { type Accepted, isIncomplete, type ReviewVerdict } from './review-verdict.ts';

/** A person's decision that a finding is all right for one head. */
export interface Acceptance {
  /** The whole hash of its fingerprint. */
  finding: string;
  /** As it was when it was accepted. A finding that weighs more by now is not accepted. */
  severity: Severity;
  by: { id: number; login: string };
  because: string;
  at: Date;
}

/** What becomes of a review's findings and verdict. */
export type Judged = Pick<ReviewVerdict, 'findings' | 'verdict' | 'passed'> & {
  accepted: Accepted[];
  /** How many findings were left out because the settings ignore their rule, by rule. */
  ignored: ReadonlyMap<string, number>;
  /** Something is missing from the review. */
  isIncomplete: boolean;
  /** The review requests changes for a reason that none of its findings stands for. */
  isStated: boolean;
};

/**
 * Judges a review again: without the findings that people accepted, and without those of rules that the settings
 * ignore. The verdict follows from the findings that are left, by the rule of docs/review.md. What does not follow from
 * findings stays as it is: an incomplete review is no approval, and nobody lifts a REJECT by accepting findings (I5).
 */
export function judgedAgain(
  review: ReviewVerdict,
  acceptances: readonly Acceptance[],
  ignoredRules: readonly string[] = [],
): Judged {
  const all = [...review.findings, ...(review.accepted ?? []).map(({ finding }) => finding)];
  const open: Finding[] = [];
  const accepted: Accepted[] = [];
  const ignored = new Map<string, number>();
  for (const finding of all) {
    const acceptance = acceptances.find((one) => accepts(one, finding));
    if (ignoredRules.includes(finding.rule)) ignored.set(finding.rule, (ignored.get(finding.rule) ?? 0) + 1);
    else if (acceptance) {
      const { by, because, at } = acceptance;
      accepted.push({ finding, by, because, at: at.toISOString() });
    } else open.push(finding);
  }
  const verdict = verdictWithout(review, all, open);
  return {
    findings: open,
    accepted,
    ignored,
    isIncomplete: isIncomplete(review),
    isStated: isStated(review, all),
    verdict,
    passed: verdict === null ? null : verdict === 'APPROVE' || verdict === 'APPROVE_WITH_SUGGESTIONS',
  };
}

function accepts({ finding, severity }: Acceptance, found: Finding): boolean {
  const isWorse = SEVERITIES.indexOf(found.severity) < SEVERITIES.indexOf(severity);
  return !isWorse && finding === fingerprintHash(found);
}

function verdictWithout(
  review: ReviewVerdict,
  all: readonly Finding[],
  open: readonly Finding[],
): ReviewVerdict['verdict'] {
  if (review.verdict === 'REJECT') return 'REJECT';
  if (open.some(isBlocking)) return 'REQUEST_CHANGES';
  // Then all of them have to be accepted.
  if (isStated(review, all) && (open.length > 0 || all.length === 0)) return 'REQUEST_CHANGES';
  if (isIncomplete(review)) return null;
  return open.some(({ severity }) => severity !== 'info') ? 'APPROVE_WITH_SUGGESTIONS' : 'APPROVE';
}

/** Whether a skill requested changes for a reason that no single finding stands for. */
function isStated(review: ReviewVerdict, all: readonly Finding[]): boolean {
  if (review.requested_changes) return true;
  return review.verdict === 'REQUEST_CHANGES' && !all.some(isBlocking);
}
