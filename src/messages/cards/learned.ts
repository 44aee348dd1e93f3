import { hiddenByRule } from '../../domain/outcome/learned.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { code } from '../text/markdown.ts';
import { plural } from '../text/pretty.ts';

const MOST_RULES = 10;

/** Which findings a review does not show, why, and how to see them again, in Markdown; empty if it shows all. */
export function notShownPart(review: Pick<ReviewVerdict, 'findings' | 'learned'>): string[] {
  const hidden = hiddenByRule(review);
  if (hidden.length === 0) return [];
  const lines = hidden.slice(0, MOST_RULES).map(({ rule, count, pullRequests }) => {
    return `- ${plural(count, 'finding')} of ${code(rule)}: people who may countersign accepted it on ${plural(pullRequests, 'pull request')}; ${code(`/countersign forget ${rule}`)} shows them again`;
  });
  const left = hidden.length - lines.length;
  const rest = left === 0 ? [] : [`- … and those of ${plural(left, 'more rule', 'more rules')}`];
  return ['#### Not shown, but counted', [...lines, ...rest].join('\n')];
}
