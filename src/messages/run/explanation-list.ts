import type { EvidenceRef } from '../../domain/explanation/evidence.ts';
import { type Explanation, labelOf } from '../../domain/explanation/explanation.ts';
import { fitting } from '../text/fitting.ts';
import { link } from '../text/link.ts';
import { code, prose } from '../text/markdown.ts';
import { clip, WHY_MARK } from '../text/pretty.ts';
import { withRest } from '../text/section.ts';

const SHOWN = { items: 60, bytes: 9_000 };
/** More than any tree of this app has. GitHub stops indenting lists at little more than this. */
const MAX_DEPTH = 5;

/**
 * The tree as a nested checklist, without its root, which is already the title.
 * @param pageOf the page of a piece of evidence, if it has one
 */
export function explanationList(tree: Explanation, pageOf: (ref: EvidenceRef) => string | null): string {
  const shown = fitting(
    tree.reasons.flatMap((reason) => flat(reason, 0)),
    ({ reason, depth }) => line(reason, depth, pageOf),
    SHOWN,
  );
  return withRest(shown, 'which `/countersign why` says');
}

function flat(reason: Explanation, depth: number): { reason: Explanation; depth: number }[] {
  const below = depth < MAX_DEPTH ? reason.reasons.flatMap((child) => flat(child, depth + 1)) : [];
  return [{ reason, depth }, ...below];
}

function line(
  { status, summary, evidence }: Explanation,
  depth: number,
  pageOf: (ref: EvidenceRef) => string | null,
): string {
  const proof = evidence
    .slice(0, 5)
    .map((item) => link(code(clip(labelOf(item), 200)), typeof item === 'string' ? null : pageOf(item)));
  return `${'  '.repeat(depth)}- ${WHY_MARK[status]} ${prose(summary, 300)}${proof.length === 0 ? '' : ` (${proof.join(', ')})`}`;
}
