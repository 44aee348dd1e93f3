import type { KnownOutcomeKind, OutcomeKind } from '../../domain/outcome/outcome.ts';
import { isOwnKind } from '../../domain/outcome/own-outcome.ts';
import { inline } from './markdown.ts';

const WORDS: Readonly<Record<KnownOutcomeKind, string>> = {
  review_verdict: 'Review',
  ci_result: 'CI',
  gate_verdict: 'Gate',
  action_result: 'Action',
  lint_result: 'Lint',
  test_result: 'Tests',
  research_analysis: 'Analysis',
  impact_report: 'Impact',
  flow_plan: 'Plan',
  show_plan: 'Show',
  flow_control_verdict: 'Flow',
};

/** The heading of an outcome of this kind. */
export function kindInWords(kind: OutcomeKind): string {
  return isOwnKind(kind) ? inline(kind, 80) : WORDS[kind];
}
