import { z } from 'zod';
import { redact } from '../core/redact.ts';

/** One node of the answer to "why is this pull request (not) merging?". */
export interface Why {
  status: 'met' | 'unmet' | 'pending' | 'unknown';
  summary: string;
  evidence: string[];
  reasons: Why[];
}

export const whySchema: z.ZodType<Why> = z.lazy(() =>
  z.strictObject({
    status: z.enum(['met', 'unmet', 'pending', 'unknown']),
    summary: z.string(),
    evidence: z.array(z.string()),
    reasons: z.array(whySchema),
  }),
);

/** Without secrets, like every reason. */
export function why(
  status: Why['status'],
  summary: string,
  reasons: Why[] = [],
  evidence: string[] = [],
): Why {
  return { status, summary: redact(summary), evidence: evidence.map(redact), reasons };
}

/** What several reasons say together: one unmet decides, then unknown, then pending. Unknown is never met (I5). */
export function combined(reasons: readonly Why[]): Why['status'] {
  for (const status of ['unmet', 'unknown', 'pending'] as const) {
    if (reasons.some((reason) => reason.status === status)) return status;
  }
  return 'met';
}
