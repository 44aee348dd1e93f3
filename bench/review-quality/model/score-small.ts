import { BLOCKING, type Finding, type KnownCategory } from '../../../src/domain/outcome/finding.ts';
import { HALVES, type Half, type Kind } from '../corpus-case.ts';
import { kindOf } from '../kind-of.ts';
import { NEAR } from '../score.ts';
import type { SmallReview } from './review-small.ts';

/**
 * Whether a finding names the weakness: at its place, and of its kind. A model says a category, which is
 * coarser than the kind that the name of a rule tells.
 */
export function namesWeakness(finding: Finding, { pullRequest }: Pick<SmallReview, 'pullRequest'>): boolean {
  const { path, weakness } = pullRequest;
  const { line, end_line: endLine = line, rule, category, file } = finding;
  if (!weakness || file !== path || line === undefined || endLine === undefined) return false;
  const isNear = weakness.places.some((place) => place >= line - NEAR && place <= endLine + NEAR);
  const isOfKind = rule.startsWith('model/')
    ? categoriesOf(weakness.kind).has(category)
    : kindOf(rule) === weakness.kind;
  return isNear && isOfKind;
}

const ATTACKS: readonly KnownCategory[] = ['injection', 'security', 'secret', 'workflow', 'container'];

/** The categories in which a model may name a weakness of the kind. */
function categoriesOf(kind: Kind): ReadonlySet<string> {
  const more: Partial<Record<Kind, readonly KnownCategory[]>> = {
    redos: ['performance'],
    'prototype-pollution': ['correctness'],
    unpinned: ['compatibility', 'maintainability'],
    'pipe-to-shell': ['maintainability'],
    destructive: ['correctness', 'error-handling'],
    other: ['correctness', 'error-handling'],
  };
  return new Set([...ATTACKS, ...(more[kind] ?? [])]);
}

export interface SmallScore {
  weaknesses: Record<Half, { found: number; of: number }>;
  findings: number;
  /** How many of the findings name a weakness. The others count as wrong, although some of them may be right. */
  right: number;
  /** Pull requests without a weakness: all, those with a finding, and those that a critical or high one blocks. */
  harmless: { of: number; remarked: number; blocked: number };
}

export function scoreOf(reviews: readonly SmallReview[]): SmallScore {
  const weaknesses = Object.fromEntries(HALVES.map((half) => [half, { found: 0, of: 0 }])) as Record<
    Half,
    { found: number; of: number }
  >;
  const harmless = { of: 0, remarked: 0, blocked: 0 };
  let findings = 0;
  let right = 0;
  for (const review of reviews) {
    const { weakness, half } = review.pullRequest;
    const naming = review.findings.filter((finding) => namesWeakness(finding, review));
    findings += review.findings.length;
    right += naming.length;
    if (weakness) {
      weaknesses[half].of++;
      if (naming.length > 0) weaknesses[half].found++;
    } else {
      harmless.of++;
      if (review.findings.length > 0) harmless.remarked++;
      if (review.findings.some(({ severity }) => BLOCKING.has(severity))) harmless.blocked++;
    }
  }
  return { weaknesses, findings, right, harmless };
}
