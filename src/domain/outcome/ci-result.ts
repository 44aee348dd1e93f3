import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';

const CHECK_STATES = ['passed', 'failed', 'pending', 'neutral'] as const;

const ciCheckSchema = z.strictObject({
  name: z.string(),
  /**
   * Where GitHub stores it: a check run of some app, a check suite that is still running, a commit status.
   * `required` is a required check that GitHub does not have yet.
   */
  source: z.enum(['check_run', 'check_suite', 'status', 'required']),
  state: z.enum(CHECK_STATES),
  /** GitHub's own word: `success`, `failure`, `timed_out`, `queued`, … */
  conclusion: z.string(),
  /** A failed check's own description, if it has one: untrusted text, on one line. */
  said: z.string().optional(),
  required: z.boolean(),
  duration_ms: z.number().min(0).nullable(),
  url: z.string().nullable(),
});
export type CiCheck = z.infer<typeof ciCheckSchema>;

/** The CI result of one head. `passed: null` if there is nothing to judge. */
export const ciResultSchema = z.strictObject({
  outcome_kind: z.literal('ci_result'),
  ...outcomeBase,
  head_sha: z.string(),
  lint_passed: z.boolean().nullable(),
  tests_passed: z.boolean().nullable(),
  build_passed: z.boolean().nullable(),
  typecheck_passed: z.boolean().nullable(),
  /** Known only if checks say it in their output; GitHub has no field for it. */
  test_count: z.int().min(0).nullable(),
  /** The failed checks and their own descriptions: untrusted text, on one line. */
  failure_summary: z.string().nullable(),
  checks: z.array(ciCheckSchema),
  /**
   * The steps that GitHub Actions ran; other CI does not report them. For readers only: no verdict uses them.
   */
  commands: z.array(
    z.strictObject({ command: z.string(), passed: z.boolean(), duration_ms: z.number().min(0) }),
  ),
  ...hashField,
});
export type CiResult = z.infer<typeof ciResultSchema>;
