import { z } from 'zod';
import { redact, redactValue } from '../../core/redact/redact.ts';
import { type EvidenceRef, evidenceRefSchema } from './evidence.ts';

export const CRITERION_STATUSES = ['met', 'unmet', 'pending', 'unknown'] as const;

/** One node of the answer to "why is this pull request (not) merging?". */
export interface Explanation {
  status: (typeof CRITERION_STATUSES)[number];
  summary: string;
  evidence: Evidence[];
  reasons: Explanation[];
}

/** A pointer, or a text for things without one, such as a line of a file. */
export type Evidence = EvidenceRef | string;

export const explanationSchema: z.ZodType<Explanation> = z.lazy(() =>
  z.strictObject({
    status: z.enum(CRITERION_STATUSES),
    summary: z.string(),
    evidence: z.array(z.union([z.string(), evidenceRefSchema])),
    reasons: z.array(explanationSchema),
  }),
);

/** Makes a node. Redacted, like every reason. */
export function criterion(
  status: Explanation['status'],
  summary: string,
  reasons: Explanation[] = [],
  evidence: Evidence[] = [],
): Explanation {
  return { status, summary: redact(summary), evidence: redactValue(evidence), reasons };
}

/**
 * The status of several reasons together: unmet before unknown before pending before met. Unknown never
 * counts as met (I5).
 */
export function combined(reasons: readonly Explanation[]): Explanation['status'] {
  for (const status of ['unmet', 'unknown', 'pending'] as const) {
    if (reasons.some((reason) => reason.status === status)) return status;
  }
  return 'met';
}

export function labelOf(evidence: Evidence): string {
  return typeof evidence === 'string' ? evidence : evidence.label;
}
