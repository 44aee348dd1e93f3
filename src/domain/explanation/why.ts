import { z } from 'zod';
import { redact, redactValue } from '../../core/redact/redact.ts';
import { type EvidenceRef, evidenceRefSchema } from './evidence.ts';

export const WHY_STATUSES = ['met', 'unmet', 'pending', 'unknown'] as const;

/** One node of the answer to "why is this pull request (not) merging?". */
export interface Why {
  status: (typeof WHY_STATUSES)[number];
  summary: string;
  evidence: Evidence[];
  reasons: Why[];
}

/** A pointer, or in words what there is none to, such as a line of a file. */
export type Evidence = EvidenceRef | string;

export const whySchema: z.ZodType<Why> = z.lazy(() =>
  z.strictObject({
    status: z.enum(WHY_STATUSES),
    summary: z.string(),
    evidence: z.array(z.union([z.string(), evidenceRefSchema])),
    reasons: z.array(whySchema),
  }),
);

/** Without secrets, like every reason. */
export function why(
  status: Why['status'],
  summary: string,
  reasons: Why[] = [],
  evidence: Evidence[] = [],
): Why {
  return { status, summary: redact(summary), evidence: redactValue(evidence), reasons };
}

/** What several reasons say together: one unmet decides, then unknown, then pending. Unknown is never met (I5). */
export function combined(reasons: readonly Why[]): Why['status'] {
  for (const status of ['unmet', 'unknown', 'pending'] as const) {
    if (reasons.some((reason) => reason.status === status)) return status;
  }
  return 'met';
}

/** What a piece of evidence is called. */
export function labelOf(evidence: Evidence): string {
  return typeof evidence === 'string' ? evidence : evidence.label;
}
