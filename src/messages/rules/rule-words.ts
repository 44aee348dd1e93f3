import type { Finding, Severity } from '../../domain/outcome/finding.ts';

/** What people read about a rule, and how much it weighs. `{message}` stands for what is only known at the place. */
export interface RuleWords {
  severity: Severity;
  /** In test and example code. */
  severity_in_tests?: Severity;
  category: Finding['category'];
  description: string;
  suggestion: string;
}
