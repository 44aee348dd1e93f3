import type { Finding } from '../domain/outcome/finding.ts';
import type { ModelMemory } from '../domain/outcome/model-memory.ts';
import type { AnalyzerReport, Since } from '../domain/outcome/review-verdict.ts';
import type { AdmittedFile, Omission } from './admit.ts';

/** What is said about a pull request's changed files, before a verdict follows from it. */
export interface ReviewReport {
  findings: Finding[];
  analyzers: AnalyzerReport[];
  leftOut: Omission[];
  filesReviewed: number;
  /** Raw output of the analyzers for the blob store: at most 5 MB, secrets masked. */
  log: string;
  since?: Since;
  notes?: string[];
  model?: ModelMemory;
}

/** The analyzers' report, and apart from it, since it is fit to be shown, what the rest of a review works on. */
export interface Analysis {
  report: ReviewReport;
  files: readonly AdmittedFile[];
  /** Hides the secrets that were found; `undefined` when they are not known, and no text of the files may be shown. */
  mask: ((text: string) => string) | undefined;
}
