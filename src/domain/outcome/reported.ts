import { type Finding, SEVERITIES, type Severity } from './finding.ts';
import type { Outcome } from './outcome.ts';
import { isIncomplete, type ReviewVerdict } from './review-verdict.ts';

/** What a step's outcome reports, for actions that write it down on GitHub. */
export interface Reported {
  findings: readonly Finding[];
  /** Findings that people accepted, beside the others. */
  accepted: readonly Finding[];
  /** What was learned about some of the findings. */
  learned?: ReviewVerdict['learned'];
  /** Everything was examined except the files of `unread`, so what is not among the findings is gone. */
  isComplete: boolean;
  /** Files about whose findings nothing is known. */
  unread: ReadonlySet<string>;
}

const ALL_READ: ReadonlySet<string> = new Set();

/** `undefined` for a kind of outcome that has no findings. */
export function reportedBy(outcome: Outcome): Reported | undefined {
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return {
        findings: outcome.findings,
        accepted: (outcome.accepted ?? []).map(({ finding }) => finding),
        learned: outcome.learned,
        isComplete: !isIncomplete(outcome),
        unread: new Set(outcome.left_out.map(({ path }) => path)),
      };
    case 'lint_result':
      return {
        findings: outcome.messages.map(({ file, line, rule, severity, message }) => ({
          severity: severity === 'error' ? 'high' : 'low',
          category: 'correctness',
          file,
          ...(line === null || file === null ? {} : { line }),
          description: message,
          suggestion: null,
          rule: `${outcome.tool}/${rule ?? severity}`.slice(0, MAX_RULE),
        })),
        isComplete: outcome.passed !== null && outcome.messages.length === outcome.errors + outcome.warnings,
        accepted: [],
        unread: ALL_READ,
      };
    case 'test_result':
      return {
        findings: outcome.failures.map(({ name, message, file }) => ({
          severity: 'high',
          category: 'testing',
          file,
          description: `${name}: ${message}`.slice(0, MAX_DESCRIPTION),
          suggestion: null,
          rule: 'test/failed',
          // The test, because its message can differ each time.
          evidence: name.slice(0, MAX_EVIDENCE),
        })),
        isComplete: outcome.passed !== null && outcome.failures.length === outcome.failed,
        accepted: [],
        unread: ALL_READ,
      };
    default:
      return undefined;
  }
}

const MAX_RULE = 200;
const MAX_DESCRIPTION = 2_000;
const MAX_EVIDENCE = 300;

export function isAtLeastAsSevere(finding: Finding, least: Severity): boolean {
  return SEVERITIES.indexOf(finding.severity) <= SEVERITIES.indexOf(least);
}
