import { type Finding, isBlocking, SEVERITIES, type Severity } from '../domain/outcome/finding.ts';
import { makeOutcome } from '../domain/outcome/outcome.ts';
import { brokenOff, type ReviewVerdict } from '../domain/outcome/review-verdict.ts';
import { lessThanReviewed, sinceWords } from '../messages/cards/review.ts';
import type { ReviewReport } from './report.ts';

/**
 * The verdict by the documented rule (`docs/review.md`): it follows from the findings, whatever their source,
 * and nobody can state it directly. It is never REJECT: whether a change should exist at all depends on its
 * purpose, which no rule can judge.
 */
export function verdictOf(report: ReviewReport, at: { headSha: string; round: number }): ReviewVerdict {
  const { findings, analyzers, leftOut, filesReviewed, since, notes, model } = report;
  const missing = missingFrom(report);
  const verdict = decide(findings, missing.length > 0);
  return makeOutcome<'review_verdict'>({
    outcome_kind: 'review_verdict',
    verdict,
    passed: verdict === null ? null : verdict !== 'REQUEST_CHANGES',
    summary: summaryOf(report, missing),
    head_sha: at.headSha,
    round: at.round,
    findings,
    ...(missing.length > 0 && { incomplete: true }),
    files_reviewed: filesReviewed,
    left_out: leftOut.map(({ needed, ...listed }) => listed),
    analyzers,
    ...(since && { since }),
    ...(notes && { notes }),
    ...(model && { model }),
  });
}

function decide(findings: readonly Finding[], incomplete: boolean) {
  // A blocking finding counts even if another part is missing.
  if (findings.some(isBlocking)) return 'REQUEST_CHANGES';
  if (incomplete) return null;
  return findings.some((finding) => finding.severity !== 'info') ? 'APPROVE_WITH_SUGGESTIONS' : 'APPROVE';
}

/** Why there is no approval, as parts of a sentence; empty if the review is complete. */
function missingFrom({ analyzers, leftOut }: ReviewReport): string[] {
  const failed = brokenOff(analyzers);
  const needed = leftOut.filter((omission) => omission.needed);
  const [first] = needed;
  if (first === undefined) return failed;
  return [
    ...failed,
    needed.length === 1
      ? `${JSON.stringify(first.path.slice(0, 200))} was not reviewed (${first.reason})`
      : `${needed.length} files were not reviewed (see the list of what was left out)`,
  ];
}

function summaryOf(
  { findings, filesReviewed, leftOut, since }: ReviewReport,
  missing: readonly string[],
): string {
  const sentences: string[] = [];
  const blocking = findings.filter(isBlocking);
  const others = findings.filter((finding) => !isBlocking(finding));
  const less = lessThanReviewed(leftOut);
  const where = `${filesReviewed} ${filesReviewed === 1 ? 'file' : 'files'}${less === '' ? '' : `, ${less}`}`;
  if (blocking.length > 0) {
    const rest = others.length > 0 ? `; ${countOf(others)} can wait` : '';
    sentences.push(`${countOf(blocking)} in ${where}${less === '' ? '' : ','} must be fixed first${rest}.`);
  } else if (others.length > 0) {
    sentences.push(`${countOf(others)} in ${where}, and nothing that stands in the way of merging.`);
  } else if (filesReviewed > 0) {
    sentences.push(`No findings in ${where}.`);
  } else {
    sentences.push(`There was nothing to review${less === '' ? '' : `; ${less}`}.`);
  }
  if (since) sentences.push(`${sinceWords(since)}.`);
  if (missing.length > 0) {
    sentences.push(
      `The review is incomplete: ${missing.join('; ')}${blocking.length > 0 ? '' : '. So there is no verdict'}.`,
    );
  }
  return sentences.join(' ').slice(0, 4_000);
}

/** Format: `2 critical and 1 high finding`. */
function countOf(findings: readonly Finding[]): string {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  const parts = SEVERITIES.filter((severity) => count(severity) > 0).map(
    (severity) => `${count(severity)} ${severity}`,
  );
  const last = parts.pop() ?? '0';
  const list = parts.length > 0 ? `${parts.join(', ')} and ${last}` : last;
  return `${list} ${last.startsWith('1 ') ? 'finding' : 'findings'}`;
}
