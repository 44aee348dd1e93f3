import type { Acceptance } from '../domain/outcome/accept.ts';
import type { RuleHistory } from '../domain/outcome/learned.ts';

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
  /**
   * Removes that a finding was accepted, for all heads of the pull request: what somebody took back on the newest one must not teach
   * anything by an older one.
   */
  remove(of: Omit<HeadOf, 'headSha'>, finding: string): Promise<void>;
  /** In the order of their findings. */
  ofHead(head: HeadOf): Promise<AcceptedFinding[]>;
  /** Counts the findings of a review, by rule, and notes the pull request for each rule. */
  countFound(
    where: { repositoryId: number; pullRequest: number | null },
    found: ReadonlyMap<string, number>,
    at: Date,
  ): Promise<void>;
  /** By rule and person, of one repository or of all. */
  byRule(repositoryId: number | undefined): Promise<AcceptedOfRule[]>;
  found(repositoryId: number | undefined): Promise<FoundRule[]>;
  /**
   * By repository and rule, only rules of which people accepted something.
   * @param of one repository or all, and some rules of it or all
   */
  history(of: { repositoryId?: number | undefined; rules?: readonly string[] }): Promise<RuleHistory[]>;
  /**
   * What was accepted of the rule until now does not count for its history any more.
   * @param by the login of a person; `null` for the operator
   */
  forget(of: { repositoryId: number; rule: string }, by: string | null, at: Date): Promise<void>;
}
