import type { Finding } from '../../outcome/finding.ts';
import type { AnalyzerReport } from '../../outcome/review-verdict.ts';
import type { Omission } from './admit.ts';

/** What the analyzers say about a pull request's changed files, before a verdict follows from it. */
export interface ReviewReport {
  findings: Finding[];
  analyzers: AnalyzerReport[];
  leftOut: Omission[];
  filesReviewed: number;
  /** Raw output of the analyzers for the blob store: at most 5 MB, secrets masked. */
  log: string;
}
