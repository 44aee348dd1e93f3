import { z } from 'zod';
import { redactValue } from '../../core/redact/redact.ts';
import { actionResultSchema } from './action-result.ts';
import { withHash } from './base.ts';
import { ciResultSchema } from './ci-result.ts';
import { gateVerdictSchema } from './gate-verdict.ts';
import { reviewVerdictSchema } from './review-verdict.ts';

/** Every typed result a step can conclude with; stored whole as an artifact. */
export const outcomeSchema = z.discriminatedUnion('outcome_kind', [
  reviewVerdictSchema,
  ciResultSchema,
  gateVerdictSchema,
  actionResultSchema,
]);
export type Outcome = z.infer<typeof outcomeSchema>;
export type OutcomeKind = Outcome['outcome_kind'];
export const OUTCOME_KINDS = outcomeSchema.options.map(({ shape }) => shape.outcome_kind.value);

/** Everything that an outcome of some kind can say, at its outermost. */
export const OUTCOME_FIELDS: readonly string[] = [
  ...new Set(outcomeSchema.options.flatMap(({ shape }) => Object.keys(shape))),
];

type Unhashed<T> = T extends unknown ? Omit<T, 'content_hash'> : never;

/**
 * The only way an outcome comes into being: without secrets, hashed, then validated.
 * @throws ZodError when the value is no such outcome; the session that made it fails then (I5).
 */
export function makeOutcome<K extends OutcomeKind>(
  value: Unhashed<Extract<Outcome, { outcome_kind: K }>>,
): Extract<Outcome, { outcome_kind: K }> {
  return outcomeSchema.parse(withHash(redactValue(value))) as Extract<Outcome, { outcome_kind: K }>;
}
