import { z } from 'zod';
import { type Finding, severitySchema } from '../../domain/outcome/finding.ts';
import { type Outcome, outcomeSchema } from '../../domain/outcome/outcome.ts';
import { isAtLeastAsSevere, type Reported, reportedBy } from '../../domain/outcome/reported.ts';

/** The inputs of actions that write findings down. */
export const outcomeInput = z
  .looseObject({ outcome_kind: z.string() })
  .describe('The outcome of an earlier step: `"{{ steps.review.outcome }}"`.')
  .meta({ values: 'an expression' });

export const severityInput = severitySchema
  .optional()
  .describe('The least severity that counts. Left out, findings of every severity count.');

/** The outcome, as it was validated when its step ended. @returns a part of a sentence if it is none */
export function outcomeIn(value: unknown): Outcome | string {
  const read = outcomeSchema.safeParse(value);
  return read.success
    ? read.data
    : '"outcome" is not the outcome of a step, such as "{{ steps.review.outcome }}"';
}

/** Its findings that count; `undefined` if it has none. */
export function countedIn(outcome: Outcome, least: Finding['severity'] | undefined): Reported | undefined {
  const reported = reportedBy(outcome);
  return (
    reported && {
      ...reported,
      findings: reported.findings.filter((finding) => isAtLeastAsSevere(finding, least ?? 'info')),
    }
  );
}
