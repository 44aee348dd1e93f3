import { FAMILY } from '../../../analyzers/findings.ts';
import type { Finding } from '../../../domain/outcome/finding.ts';
import type { ReviewVerdict, Since } from '../../../domain/outcome/review-verdict.ts';
import { worstFirst } from '../../../messages/cards/review-card.ts';

/** What this round looked at. */
export interface Now extends Pick<ReviewVerdict, 'findings' | 'analyzers'> {
  /** The files that the head changes. */
  present: ReadonlySet<string>;
  /** Those of them that were not reviewed, or not in full. */
  unread: ReadonlySet<string>;
}

const MOST_KEPT = 20;

/**
 * What became of an earlier round's findings. One is fixed when nothing says it any more and whoever said it has looked again: the
 * silence of an analyzer that crashed, or of a file that could not be read, mends nothing.
 * @returns `undefined` when nothing had been found.
 */
export function sinceEarlier(earlier: ReviewVerdict, now: Now): Since | undefined {
  if (earlier.findings.length === 0) return undefined;
  const open = counted(now.findings);
  const fixed: Finding[] = [];
  for (const finding of earlier.findings) {
    const print = fingerprint(finding);
    const left = open.get(print) ?? 0;
    if (left > 0) open.set(print, left - 1);
    else if (wasLookedAt(finding, now)) fixed.push(finding);
  }
  return {
    round: earlier.round,
    fixed: fixed.length,
    still_open: earlier.findings.length - fixed.length,
    fixed_findings: worstFirst(fixed).slice(0, MOST_KEPT),
  };
}

function wasLookedAt({ file, rule }: Finding, { present, unread, analyzers }: Now): boolean {
  if (!present.has(file)) return true;
  const analyzer = analyzers.find(({ name }) => rule.startsWith(`${name}/`));
  return analyzer?.status === 'ok' && !unread.has(file);
}

/**
 * By what a finding is known from round to round: file, rule and content of its line, not the line's number. White space does not
 * count, since a fix elsewhere often indents. Of a model the family of causes stands for the rule: it calls the same fault
 * `security` in one round and `injection` in the next.
 */
export function fingerprint({ file, rule, category, evidence, description }: Finding): string {
  const cause = rule.startsWith('model/') ? `model/${FAMILY[category]}` : rule;
  return JSON.stringify([file, cause, (evidence ?? description).replaceAll(/\s+/g, '')]);
}

function counted(findings: readonly Finding[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const finding of findings) {
    const print = fingerprint(finding);
    counts.set(print, (counts.get(print) ?? 0) + 1);
  }
  return counts;
}
