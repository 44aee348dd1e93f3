import type { Finding } from '../../../domain/outcome/finding.ts';
import { fingerprint } from '../../../domain/outcome/fingerprint.ts';
import type { ReviewVerdict, Since } from '../../../domain/outcome/review-verdict.ts';
import { worstFirst } from '../../../messages/cards/review-card.ts';

/** What this round reviewed. */
export interface RoundFacts extends Pick<ReviewVerdict, 'findings' | 'analyzers'> {
  /** The files that the head changes. */
  present: ReadonlySet<string>;
  /** Changed files that were not reviewed, or not completely. */
  unread: ReadonlySet<string>;
}

const MAX_KEPT = 20;

/**
 * What became of the findings of an earlier round. A finding is fixed if nothing reports it any more and its
 * source has run again. An analyzer that crashed, or a file that could not be read, fixes nothing.
 * @returns `undefined` if the earlier round had no findings
 */
export function sinceEarlier(earlier: ReviewVerdict, now: RoundFacts): Since | undefined {
  if (earlier.findings.length === 0) return undefined;
  const open = counted(now.findings);
  const fixed: Finding[] = [];
  for (const finding of earlier.findings) {
    const print = fingerprint(finding);
    const left = open.get(print) ?? 0;
    if (left > 0) open.set(print, left - 1);
    else if (wasReviewed(finding, now)) fixed.push(finding);
  }
  return {
    round: earlier.round,
    fixed: fixed.length,
    still_open: earlier.findings.length - fixed.length,
    fixed_findings: worstFirst(fixed).slice(0, MAX_KEPT),
  };
}

/** Whether the source of a finding of an earlier round has read its place in this one. */
export function wasReviewed({ file, rule }: Finding, { present, unread, analyzers }: RoundFacts): boolean {
  if (file !== null && !present.has(file)) return true;
  const analyzer = analyzers.find(({ name }) => rule.startsWith(`${name}/`));
  return analyzer?.status === 'ok' && (file === null ? unread.size === 0 : !unread.has(file));
}

function counted(findings: readonly Finding[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const finding of findings) {
    const print = fingerprint(finding);
    counts.set(print, (counts.get(print) ?? 0) + 1);
  }
  return counts;
}
