import { type Finding, SEVERITIES } from '../../../domain/outcome/finding.ts';
import { fingerprint } from '../../../domain/outcome/fingerprint.ts';
import type { ReviewVerdict } from '../../../domain/outcome/review-verdict.ts';
import { worstFirst } from '../../../messages/cards/review-card.ts';
import { type RoundFacts, wasReviewed } from './since.ts';

/**
 * The findings of a review that was asked to read one file again. What it finds now counts. What the last review of this head found
 * stays: in other files whatever is found there now, at least as severe, and in the file itself if its source has not read it again.
 * Rejected: taking all of the other files from the last review, which would hide what an analyzer finds that had crashed then.
 * @param rest the last review of this head; what people accepted in it is judged again later
 * @returns worst first
 */
export function findingsBeside(
  rest: Pick<ReviewVerdict, 'findings' | 'accepted'>,
  path: string,
  now: RoundFacts,
): Finding[] {
  const findings = [...now.findings];
  const unmatched = Map.groupBy(now.findings.entries(), ([, finding]) => fingerprint(finding));
  for (const before of [...rest.findings, ...(rest.accepted ?? []).map(({ finding }) => finding)]) {
    const [index, same] = unmatched.get(fingerprint(before))?.shift() ?? [];
    if (before.file === path && wasReviewed(before, now)) continue;
    if (index === undefined || same === undefined) findings.push(before);
    else if (isWorse(before, same)) findings[index] = before;
  }
  return worstFirst(findings);
}

function isWorse(a: Finding, b: Finding): boolean {
  return SEVERITIES.indexOf(a.severity) < SEVERITIES.indexOf(b.severity);
}
