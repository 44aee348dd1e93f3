import { z } from 'zod';
import { redactValue } from '../../core/redact/redact.ts';
import { actionResultSchema } from './action-result.ts';
import { withHash } from './base.ts';
import { ciResultSchema } from './ci-result.ts';
import { gateVerdictSchema } from './gate-verdict.ts';
import { isOwnKind, kindSchema, ownOutcomeSchema } from './own-outcome.ts';
import { reviewVerdictSchema } from './review-verdict.ts';
import { statedSchemas } from './stated.ts';

/** The kinds that Countersign knows. */
export const knownOutcomeSchema = z.discriminatedUnion('outcome_kind', [
  reviewVerdictSchema,
  ciResultSchema,
  gateVerdictSchema,
  actionResultSchema,
  ...statedSchemas,
]);
/** Every typed result that a step can have; stored in full as an artifact. */
export const outcomeSchema = z.union([knownOutcomeSchema, ownOutcomeSchema]);
export type Outcome = z.infer<typeof outcomeSchema>;
export type OutcomeKind = Outcome['outcome_kind'];
export type KnownOutcomeKind = z.infer<typeof knownOutcomeSchema>['outcome_kind'];
export const OUTCOME_KINDS: readonly KnownOutcomeKind[] = knownOutcomeSchema.options.map(
  ({ shape }) => shape.outcome_kind.value,
);

/** A known kind, or one of a package. */
export const outcomeKindSchema = kindSchema(OUTCOME_KINDS);

const KNOWN_SCHEMAS = new Map<string, (typeof knownOutcomeSchema.options)[number]>(
  knownOutcomeSchema.options.map((schema) => [schema.shape.outcome_kind.value, schema]),
);

/** The schema of one kind of outcome. */
export function schemaOfKind(kind: OutcomeKind) {
  return KNOWN_SCHEMAS.get(kind) ?? ownOutcomeSchema;
}

/** All top-level fields of all kinds of outcome. */
export const OUTCOME_FIELDS: readonly string[] = [
  ...new Set([...knownOutcomeSchema.options, ownOutcomeSchema].flatMap(({ shape }) => Object.keys(shape))),
];

const NAMES: Readonly<
  Record<Exclude<KnownOutcomeKind, 'review_verdict' | 'gate_verdict' | 'action_result'>, string>
> = {
  ci_result: 'CI result',
  lint_result: 'Lint result',
  test_result: 'Test result',
  research_analysis: 'Research analysis',
  impact_report: 'Impact report',
  flow_plan: 'Flow plan',
  show_plan: 'Show plan',
  flow_control_verdict: 'Flow control',
};

/** The name of an outcome's artifact, such as `Round 1 verdict`. */
export function outcomeName(outcome: Outcome): string {
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return `Round ${outcome.round} verdict`;
    case 'gate_verdict':
      return `Gate ${outcome.gate}`;
    case 'action_result':
      return `Result of ${outcome.action}`;
    default:
      return isOwnKind(outcome.outcome_kind) ? outcome.outcome_kind : NAMES[outcome.outcome_kind];
  }
}

type Unhashed<T> = T extends unknown ? Omit<T, 'content_hash'> : never;

/**
 * The only way to make an outcome: redacts, adds the hash, then validates.
 * @throws ZodError if the value is not a valid outcome; its session then fails (I5)
 */
export function makeOutcome<K extends OutcomeKind>(
  value: Unhashed<Extract<Outcome, { outcome_kind: K }>>,
): Extract<Outcome, { outcome_kind: K }> {
  // Chosen by kind, because the errors of a union do not say what is wrong.
  const schema = schemaOfKind(value.outcome_kind);
  return schema.parse(withHash(redactValue(value))) as Extract<Outcome, { outcome_kind: K }>;
}
