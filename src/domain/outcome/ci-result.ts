import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';

export const CHECK_STATES = ['passed', 'failed', 'pending', 'neutral'] as const;

export const ciCheckSchema = z.strictObject({
  name: z.string(),
  /** Where GitHub keeps it: a check run of some app, a suite of them that goes on, or a commit status. */
  source: z.enum(['check_run', 'check_suite', 'status', 'required']),
  state: z.enum(CHECK_STATES),
  /** GitHub's own word: `success`, `failure`, `timed_out`, `queued`, … */
  conclusion: z.string(),
  /** What a failed one says of itself, if it does: a stranger's words, on one line. */
  said: z.string().optional(),
  required: z.boolean(),
  duration_ms: z.number().min(0).nullable(),
  url: z.string().nullable(),
});
export type CiCheck = z.infer<typeof ciCheckSchema>;

/** What the repository's CI says about one head. `passed: null` when there is nothing to say. */
export const ciResultSchema = z.strictObject({
  outcome_kind: z.literal('ci_result'),
  ...outcomeBase,
  head_sha: z.string(),
  lint_passed: z.boolean().nullable(),
  tests_passed: z.boolean().nullable(),
  build_passed: z.boolean().nullable(),
  typecheck_passed: z.boolean().nullable(),
  /** Known only when checks say it in their output; GitHub has no field for it. */
  test_count: z.int().min(0).nullable(),
  /** What the red checks are and say of themselves: a stranger's words, on one line. */
  failure_summary: z.string().nullable(),
  checks: z.array(ciCheckSchema),
  /** What GitHub Actions ran, as its steps are called; other CI does not tell. For reading: no verdict rests on it. */
  commands: z.array(
    z.strictObject({ command: z.string(), passed: z.boolean(), duration_ms: z.number().min(0) }),
  ),
  ...hashField,
});
export type CiResult = z.infer<typeof ciResultSchema>;
