import { z } from 'zod';
import { redact, redactValue } from '../core/redact.ts';

/**
 * Why something ended or waits as it does. The list is closed and documented in docs/reasons.md; a test holds
 * the two together.
 */
export const REASON_CODES = [
  'run.completed',
  'run.completed.changes_requested',
  'run.completed.not_merged',
  'run.failed.step',
  'run.failed.missing_artifact',
  'run.timed_out.step',
  'run.cancelled.superseded',
  'run.cancelled.closed',
  'run.cancelled.merged_elsewhere',
  'run.cancelled.draft',
  'run.cancelled.retargeted',
  'run.cancelled.not_triggered',
  'run.cancelled.settings_changed',
  'run.cancelled.by_person',
  'run.aborted.installation_gone',
  'run.aborted.repository_gone',
  'run.aborted.shut_out',
  'step.completed',
  'step.skipped.condition',
  'step.skipped.dependency',
  'step.skipped.run_ended',
  'step.failed.error',
  'step.failed.missing_artifact',
  'step.failed.rejected',
  'step.failed.not_mergeable',
  'step.failed.ci_wait',
  'step.failed.incomplete',
  'step.failed.invalid_input',
  'step.failed.unexpected_outcome',
  'step.timed_out',
  'step.cancelled',
  'step.waiting.ci',
  'step.waiting.approval',
  'step.waiting.retry',
  'step.waiting.rate_limit',
  'step.waiting.paused',
  'step.waiting.gate',
  'gate.blocked.policy',
] as const;
export const reasonCodeSchema = z.enum(REASON_CODES);
export type ReasonCode = z.infer<typeof reasonCodeSchema>;

/** A pointer to the thing itself: a check, a comment, a run, an artifact, a person; a rule by its `rule_id`. */
export const evidenceRefSchema = z.strictObject({
  kind: z.enum([
    'artifact',
    'check',
    'comment',
    'commit',
    'effect',
    'gate',
    'person',
    'rule',
    'run',
    'step',
    'url',
  ]),
  id: z.string(),
  label: z.string(),
});
export type EvidenceRef = z.infer<typeof evidenceRefSchema>;

export const reasonSchema = z.strictObject({
  code: reasonCodeSchema,
  /** One sentence for people. */
  summary: z.string(),
  evidence: z.array(evidenceRefSchema),
});
export type Reason = z.infer<typeof reasonSchema>;

/** Without secrets, before anything is cut from it or encoded: it may quote GitHub, a check's name or a title. */
export function reason(code: ReasonCode, summary: string, evidence: EvidenceRef[] = []): Reason {
  return { code, summary: redact(summary), evidence: redactValue(evidence) };
}
