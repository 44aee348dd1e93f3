import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';
import { findingSchema, safePathSchema } from './finding.ts';
import { modelMemorySchema } from './model-memory.ts';

export const VERDICTS = ['APPROVE', 'APPROVE_WITH_SUGGESTIONS', 'REQUEST_CHANGES', 'REJECT'] as const;

/** How one analyzer, or the language model, ended. Anything but `ok` makes the review incomplete. */
const analyzerReportSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  status: z.enum(['ok', 'crashed', 'timed_out', 'no_answer']),
  files: z.int().min(0),
  duration_ms: z.number().min(0),
  message: z.string().max(1_000).optional(),
});
export type AnalyzerReport = z.infer<typeof analyzerReportSchema>;

/** The incomplete ones, as parts of a sentence: `oxlint crashed`. */
export function brokenOff(reports: readonly AnalyzerReport[]): string[] {
  return reports.flatMap(({ name, status }) =>
    status === 'ok' ? [] : [`${name} ${BROKEN_OFF_WORDS[status]}`],
  );
}

/** Whether something is missing from a review. Reviews of older versions say it only in their summary. */
export function isIncomplete(
  review: Pick<ReviewVerdict, 'verdict' | 'incomplete' | 'analyzers' | 'summary'>,
): boolean {
  const { verdict, incomplete, analyzers, summary } = review;
  return (
    verdict === null ||
    incomplete === true ||
    brokenOff(analyzers).length > 0 ||
    summary.includes('The review is incomplete: ')
  );
}

const BROKEN_OFF_WORDS = {
  crashed: 'crashed',
  timed_out: 'timed out',
  no_answer: 'gave no usable answer',
} as const satisfies Record<Exclude<AnalyzerReport['status'], 'ok'>, string>;

/** The current state of an earlier round's findings. */
const sinceSchema = z.strictObject({
  round: z.int().min(1),
  /** How many are gone from what this round examined again. */
  fixed: z.int().min(0),
  still_open: z.int().min(0),
  /** The most severe of the fixed findings, as they were reported. */
  fixed_findings: z.array(findingSchema),
});
export type Since = z.infer<typeof sinceSchema>;

/**
 * How a file that was not reviewed in full was examined: by the search for secrets only, by analyzers but no
 * model, or not at all.
 */
const SEEN_BY = ['secret_search', 'analyzers', 'nobody'] as const;
export type SeenBy = (typeof SEEN_BY)[number];

const leftOutSchema = z.strictObject({
  path: safePathSchema.or(z.string()),
  reason: z.string(),
  /**
   * Set if the file can be executed and the verdict still counts, so that the approval comment has to mention
   * it.
   */
  seen_by: z.enum(SEEN_BY).optional(),
});
export type LeftOut = z.infer<typeof leftOutSchema>;

/** A finding that a person accepted for this head, with the reason that they gave. It does not count for the verdict. */
const acceptedSchema = z.strictObject({
  finding: findingSchema,
  by: z.strictObject({ id: z.int(), login: z.string() }),
  because: z.string(),
  /** ISO 8601. */
  at: z.string(),
});
export type Accepted = z.infer<typeof acceptedSchema>;

/**
 * A rule whose findings people of this repository mostly accept. They come last among those of their severity, and some are not
 * shown; see `learned.ts`. They count for the verdict like all others.
 */
const learnedSchema = z.strictObject({
  rule: z.string(),
  /** On how many pull requests they were accepted. */
  pull_requests: z.int().min(1),
  /** The hashes of the findings that this is about. */
  findings: z.array(z.string()),
});
export type LearnedRule = z.infer<typeof learnedSchema>;

/**
 * The result of a review. `verdict` is null if the review is incomplete: a missing result is no verdict, and
 * never an approval (invariant I5).
 */
export const reviewVerdictSchema = z.strictObject({
  outcome_kind: z.literal('review_verdict'),
  ...outcomeBase,
  verdict: z.enum(VERDICTS).nullable(),
  head_sha: z.string(),
  /** Which review of this pull request it is, from 1. */
  round: z.int().min(1),
  findings: z.array(findingSchema),
  /** Findings that people accepted, beside `findings`; absent without any. */
  accepted: z.array(acceptedSchema).optional(),
  /** What was learned from acceptances; absent if that is about none of the findings. */
  learned: z.array(learnedSchema).optional(),
  /**
   * Set if the review requested changes for a reason that none of its findings stands for, so that all of them have to
   * be accepted. The verdict does not say so any more once they are.
   */
  requested_changes: z.literal(true).optional(),
  /** Set if something is missing from the review, so that it can be no approval, whatever becomes of its findings. */
  incomplete: z.literal(true).optional(),
  files_reviewed: z.int().min(0),
  /** The files that were not reviewed, and why. They are shown, because silence would read as "fine". */
  left_out: z.array(leftOutSchema),
  analyzers: z.array(analyzerReportSchema),
  /** Absent in a first round, and if earlier rounds found nothing. */
  since: sinceSchema.optional(),
  /** More about how the review was made, one sentence each. */
  notes: z.array(z.string()).optional(),
  /** A language model's memory for the next round; absent if no model was asked. */
  model: modelMemorySchema.optional(),
  ...hashField,
});
export type ReviewVerdict = z.infer<typeof reviewVerdictSchema>;
