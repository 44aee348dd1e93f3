import type { Judged } from '../../domain/outcome/accept.ts';
import { isBlocking } from '../../domain/outcome/finding.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { severities } from '../run/run-sentence.ts';
import { listed, plural } from '../text/pretty.ts';

/** The summary of a review that was judged again, in plain text. */
export function judgedAgainSummary({ accepted, ignored, findings, verdict }: Judged): string {
  const blocking = findings.filter(isBlocking);
  const people = [...new Set(accepted.map(({ by }) => by.login))];
  const leftOut = [...ignored.values()].reduce((sum, count) => sum + count, 0);
  const words = [
    ...(accepted.length > 0
      ? [`${plural(accepted.length, 'finding')} accepted by ${listed(people.slice(0, 5), 'and')}`]
      : []),
    ...(leftOut > 0 ? [`${plural(leftOut, 'finding')} of rules that the settings ignore`] : []),
  ].join(', ');
  if (words === '') return unchangedSummary(findings);
  if (verdict === 'REJECT') return `${words}; the review rejects the change all the same.`;
  if (blocking.length > 0) return `${words}; ${severities(blocking)} must still be fixed.`;
  if (verdict === 'REQUEST_CHANGES') return `${words}; the review still requests changes.`;
  if (verdict === null) return `${words}; the review is incomplete, so there is no verdict.`;
  return findings.length === 0
    ? `${words}; nothing else was found.`
    : `${words}; ${severities(findings)} left, and nothing that stands in the way of merging.`;
}

/** The person whose acceptance counted before may not accept any more. */
function unchangedSummary(findings: Judged['findings']): string {
  return `No finding is accepted any more: ${severities(findings)}.`;
}

/** Of a review without findings that are left. */
export function nothingFound({ accepted = [] }: Pick<ReviewVerdict, 'accepted'>): string {
  return accepted.length === 0 ? 'Nothing was found.' : 'Nothing else was found.';
}

/** The note of a review about findings that the settings leave out. */
export function ignoredByRule(ignored: Judged['ignored']): string[] {
  return [...ignored].map(
    ([rule, count]) => `Left out, because the settings ignore the rule ${rule}: ${plural(count, 'finding')}.`,
  );
}
