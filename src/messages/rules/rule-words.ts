import type { Finding, Severity } from '../../domain/outcome/finding.ts';

/** The text and severity of a rule. `{message}` is replaced by the details of the finding. */
export interface RuleWords {
  severity: Severity;
  /** In test and example code. */
  severity_in_tests?: Severity;
  category: Finding['category'];
  description: string;
  suggestion: string;
}
