import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';
import { findingSchema, safePathSchema } from './finding.ts';

export const VERDICTS = ['APPROVE', 'APPROVE_WITH_SUGGESTIONS', 'REQUEST_CHANGES', 'REJECT'] as const;

/** How one analyzer fared; anything but `ok` makes the review incomplete. */
export const analyzerReportSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  status: z.enum(['ok', 'crashed', 'timed_out']),
  files: z.int().min(0),
  duration_ms: z.number().min(0),
  message: z.string().max(1_000).optional(),
});
export type AnalyzerReport = z.infer<typeof analyzerReportSchema>;

export const leftOutSchema = z.strictObject({ path: safePathSchema.or(z.string()), reason: z.string() });
export type LeftOut = z.infer<typeof leftOutSchema>;

/**
 * What a review concluded. `verdict` is absent when the review is incomplete: a missing result is no verdict,
 * and never an approval (invariant I5).
 */
export const reviewVerdictSchema = z.strictObject({
  outcome_kind: z.literal('review_verdict'),
  ...outcomeBase,
  verdict: z.enum(VERDICTS).nullable(),
  head_sha: z.string(),
  /** Which look at this pull request it was, from 1. */
  round: z.int().min(1),
  findings: z.array(findingSchema),
  files_reviewed: z.int().min(0),
  /** What was not looked at, and why; people see it, since silence would read as "fine". */
  left_out: z.array(leftOutSchema),
  analyzers: z.array(analyzerReportSchema),
  ...hashField,
});
export type ReviewVerdict = z.infer<typeof reviewVerdictSchema>;
