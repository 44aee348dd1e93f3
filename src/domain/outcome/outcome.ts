import { z } from 'zod';
import { redactValue } from '../../core/redact/redact.ts';
import { actionResultSchema } from './action-result.ts';
import { withHash } from './base.ts';
import { ciResultSchema } from './ci-result.ts';
import { gateVerdictSchema } from './gate-verdict.ts';
import { reviewVerdictSchema } from './review-verdict.ts';

/** Every typed result that a step can have; stored in full as an artifact. */
export const outcomeSchema = z.discriminatedUnion('outcome_kind', [
  reviewVerdictSchema,
  ciResultSchema,
  gateVerdictSchema,
  actionResultSchema,
]);
export type Outcome = z.infer<typeof outcomeSchema>;
export type OutcomeKind = Outcome['outcome_kind'];
export const OUTCOME_KINDS = outcomeSchema.options.map(({ shape }) => shape.outcome_kind.value);

/** All top-level fields of all kinds of outcome. */
export const OUTCOME_FIELDS: readonly string[] = [
  ...new Set(outcomeSchema.options.flatMap(({ shape }) => Object.keys(shape))),
];

type Unhashed<T> = T extends unknown ? Omit<T, 'content_hash'> : never;

/**
 * The only way to make an outcome: redacts, adds the hash, then validates.
 * @throws ZodError if the value is not a valid outcome; its session then fails (I5)
 */
export function makeOutcome<K extends OutcomeKind>(
  value: Unhashed<Extract<Outcome, { outcome_kind: K }>>,
): Extract<Outcome, { outcome_kind: K }> {
  return outcomeSchema.parse(withHash(redactValue(value))) as Extract<Outcome, { outcome_kind: K }>;
}
