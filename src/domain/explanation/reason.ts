import { z } from 'zod';
import { redact, redactValue } from '../../core/redact/redact.ts';
import { type EvidenceRef, evidenceRefSchema } from './evidence.ts';
import { type Explanation, explanationSchema } from './explanation.ts';

/** Why something ended or waits. The list is closed; a test compares it with docs/reasons.md. */
export const REASON_CODES = [
  'run.completed',
  'run.completed.changes_requested',
  'run.completed.not_merged',
  'run.completed.ended_early',
  'run.completed.rollout',
  'run.failed.step',
  'run.failed.missing_artifact',
  'run.timed_out.step',
  'run.cancelled.superseded',
  'run.cancelled.newer_run',
  'run.cancelled.closed',
  'run.cancelled.merged_elsewhere',
  'run.cancelled.merged_by_chain',
  'run.cancelled.draft',
  'run.cancelled.retargeted',
  'run.cancelled.not_triggered',
  'run.cancelled.settings_changed',
  'run.cancelled.chain_changed',
  'run.cancelled.rollout',
  'run.cancelled.by_person',
  'run.cancelled.parent_ended',
  'run.aborted.installation_gone',
  'run.aborted.repository_gone',
  'run.aborted.shut_out',
  'step.completed',
  'step.skipped.condition',
  'step.skipped.dependency',
  'step.skipped.run_ended',
  'step.skipped.rollout',
  'step.failed.error',
  'step.failed.missing_artifact',
  'step.failed.rejected',
  'step.failed.not_mergeable',
  'step.failed.ci_wait',
  'step.failed.wait',
  'step.failed.incomplete',
  'step.failed.invalid_input',
  'step.failed.unexpected_outcome',
  'step.timed_out',
  'step.cancelled',
  'step.waiting.ci',
  'step.waiting.approval',
  'step.waiting.draft',
  'step.waiting.merge_button',
  'step.waiting.merge_queue',
  'step.waiting.retry',
  'step.waiting.rate_limit',
  'step.waiting.github',
  'step.waiting.paused',
  'step.waiting.gate',
  'step.waiting.write',
  'step.waiting.until',
  'step.waiting.workflow',
  'step.waiting.chain',
  'step.waiting.conflict',
  'step.waiting.mergeability',
  'gate.blocked.policy',
] as const;

/** Of runs that completed without what they are for. */
export const UNDONE_REASONS = [
  'run.completed.changes_requested',
  'run.completed.not_merged',
] as const satisfies readonly (typeof REASON_CODES)[number][];
export const reasonCodeSchema = z.enum(REASON_CODES);
export type ReasonCode = z.infer<typeof reasonCodeSchema>;

export const reasonSchema = z.strictObject({
  code: reasonCodeSchema,
  /** One sentence for people. */
  summary: z.string(),
  evidence: z.array(evidenceRefSchema),
  /** The explanation of the decision behind it; absent if there was no decision. */
  decision: explanationSchema.optional(),
});
export type Reason = z.infer<typeof reasonSchema>;

/**
 * Makes a reason. Its summary may quote GitHub, a check's name or a title, so it is redacted before it is
 * truncated or encoded. It is put on one line, for tables, titles and lists.
 */
export function reason(
  code: ReasonCode,
  summary: string,
  evidence: EvidenceRef[] = [],
  decision?: Explanation,
): Reason {
  return {
    code,
    summary: redact(summary).replaceAll(/\s+/g, ' ').trim(),
    evidence: redactValue(evidence),
    ...(decision ? { decision } : {}),
  };
}

/** The reason with at least one piece of evidence: its own, otherwise this one. */
export function pointingTo(because: Reason, otherwise: EvidenceRef): Reason {
  return because.evidence.length > 0 ? because : { ...because, evidence: [otherwise] };
}
