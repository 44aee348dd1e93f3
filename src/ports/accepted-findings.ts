import type { Acceptance } from '../domain/outcome/accept.ts';

/** The head for which a person accepts a finding. */
export interface HeadOf {
  repositoryId: number;
  pullRequest: number;
  headSha: string;
}

/** A stored acceptance, with what is known of the finding without its review. */
export interface AcceptedFinding extends HeadOf, Acceptance {
  /** The rule that found it, as `analyzer/rule`. */
  rule: string;
}

/** What one person accepted of one rule. */
interface AcceptedOfRule {
  rule: string;
  login: string;
  count: number;
  first: Date;
}

/** How often reviews found a rule. */
interface FoundRule {
  rule: string;
  found: number;
  first: Date;
}

export interface AcceptedFindings {
  /** Replaces who accepted it before. */
  put(accepted: AcceptedFinding): Promise<void>;
  /** Removes that a finding was accepted for a head. */
  remove(head: HeadOf, finding: string): Promise<void>;
  /** In the order of their findings. */
  ofHead(head: HeadOf): Promise<AcceptedFinding[]>;
  /** Counts the findings of a review, by rule. */
  countFound(repositoryId: number, found: ReadonlyMap<string, number>, at: Date): Promise<void>;
  /** By rule and person, of one repository or of all. */
  byRule(repositoryId: number | undefined): Promise<AcceptedOfRule[]>;
  found(repositoryId: number | undefined): Promise<FoundRule[]>;
}
