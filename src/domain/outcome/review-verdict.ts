import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';
import { findingSchema, safePathSchema } from './finding.ts';
import { modelMemorySchema } from './model-memory.ts';

export const VERDICTS = ['APPROVE', 'APPROVE_WITH_SUGGESTIONS', 'REQUEST_CHANGES', 'REJECT'] as const;

/** How one analyzer, or the language model, fared; anything but `ok` makes the review incomplete. */
export const analyzerReportSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  status: z.enum(['ok', 'crashed', 'timed_out', 'no_answer']),
  files: z.int().min(0),
  duration_ms: z.number().min(0),
  message: z.string().max(1_000).optional(),
});
export type AnalyzerReport = z.infer<typeof analyzerReportSchema>;

/** Those that did not get through, in words that go into a sentence: `oxlint crashed`. */
export function brokenOff(reports: readonly AnalyzerReport[]): string[] {
  return reports.flatMap(({ name, status }) =>
    status === 'ok' ? [] : [`${name} ${BROKEN_OFF_WORDS[status]}`],
  );
}

const BROKEN_OFF_WORDS = {
  crashed: 'crashed',
  timed_out: 'timed out',
  no_answer: 'gave no usable answer',
} as const satisfies Record<Exclude<AnalyzerReport['status'], 'ok'>, string>;

/** What became of an earlier round's findings. */
export const sinceSchema = z.strictObject({
  round: z.int().min(1),
  /** How many are gone from what was looked at again. */
  fixed: z.int().min(0),
  still_open: z.int().min(0),
  /** The worst of those that are fixed, as they were said. */
  fixed_findings: z.array(findingSchema),
});
export type Since = z.infer<typeof sinceSchema>;

/** Who looked at what was not reviewed in full: the search for secrets alone, analyzers but no model, or nobody. */
const SEEN_BY = ['secret_search', 'analyzers', 'nobody'] as const;
export type SeenBy = (typeof SEEN_BY)[number];

export const leftOutSchema = z.strictObject({
  path: safePathSchema.or(z.string()),
  reason: z.string(),
  /** Set when a machine may run it and the verdict stands all the same, so that whoever is asked has to be told. */
  seen_by: z.enum(SEEN_BY).optional(),
});
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
  /** Absent in a first round, and when nothing had been found before. */
  since: sinceSchema.optional(),
  /** What else to know of how the review came about, a sentence each. */
  notes: z.array(z.string()).optional(),
  /** What the next round needs to know of a language model's part; absent when none was asked. */
  model: modelMemorySchema.optional(),
  ...hashField,
});
export type ReviewVerdict = z.infer<typeof reviewVerdictSchema>;
