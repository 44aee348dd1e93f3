import type { Finding } from '../domain/outcome/finding.ts';
import type { ModelMemory } from '../domain/outcome/model-memory.ts';
import type { AnalyzerReport, Since } from '../domain/outcome/review-verdict.ts';
import type { AdmittedFile, Omission } from './admit.ts';

/** The result for a pull request's changed files, before the verdict. */
export interface ReviewReport {
  findings: Finding[];
  analyzers: AnalyzerReport[];
  leftOut: Omission[];
  filesReviewed: number;
  /** The analyzers' raw output for the blob store: at most 5 MB, with secrets masked. */
  log: string;
  since?: Since;
  notes?: string[];
  model?: ModelMemory;
}

/** The analyzers' report. What is not safe to show, and the rest of a review needs, is separate. */
export interface Analysis {
  report: ReviewReport;
  files: readonly AdmittedFile[];
  /**
   * Hides the secrets that were found. `undefined` if they are unknown; then no text of the files may be
   * shown.
   */
  mask: ((text: string) => string) | undefined;
}
