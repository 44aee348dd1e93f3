import { z } from 'zod';
import { freezeSchema } from './freeze.ts';

/**
 * The consequence of a gate that does not pass. `block`: the step does not continue. `warn`: it continues
 * with a warning. `degrade`: it continues, and its outcome counts as not passed. `require_human`: it
 * continues after a countersign.
 */
export const FAILURE_POLICIES = ['block', 'warn', 'degrade', 'require_human'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];

const MAX_GATES = 20;
const MAX_CRITERIA = 20;

const id = (what: string) =>
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/, {
    error: `the id of a ${what} has at most 50 letters, digits, "-" and "_", and starts with a letter or digit`,
  });

/** One criterion as people write it. `check-gates.ts` verifies that it has exactly one question. */
export const writtenCriterionSchema = z.strictObject({
  id: id('criterion').describe('Each once in a gate.'),
  if: z
    .string()
    .max(2_000)
    .optional()
    .describe('An expression over pr, steps, trigger and repo; only true passes.'),
  because: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('With "if": what people read when it does not pass.'),
  codeowners: z.literal('approved').optional().describe('Owners of all changed files approve this head.'),
  freeze: freezeSchema.optional().describe('Does not pass during this time.'),
});
type WrittenCriterion = z.infer<typeof writtenCriterionSchema>;

/** A gate as people write it. `check-gates.ts` verifies that it has either criteria or a skill. */
export const writtenGateSchema = z.strictObject({
  id: id('gate').describe('The name of the gate in messages.'),
  description: z.string().min(1).max(500).optional(),
  criteria: z.array(writtenCriterionSchema).min(1).max(MAX_CRITERIA).optional().describe('All must pass.'),
  skill: z.string().min(1).max(100).optional().describe("A skill whose outcome's passed decides."),
  on_failure: z.enum(FAILURE_POLICIES).default('block').describe('What happens when it is not passed.'),
});
export type WrittenGate = z.infer<typeof writtenGateSchema>;

const criterionSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('expression'),
    id: z.string(),
    if: z.string(),
    because: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('codeowners'), id: z.string() }),
  z.strictObject({ kind: z.literal('freeze'), id: z.string(), freeze: freezeSchema }),
]);
/** One question of a gate. */
export type GateCriterion = z.infer<typeof criterionSchema>;

const common = {
  id: z.string(),
  description: z.string().optional(),
  on_failure: z.enum(FAILURE_POLICIES),
};

/**
 * A gate as a run stores it. The union is closed, so that the compiler finds code that does not handle a
 * kind.
 */
const gateSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('criteria'), ...common, criteria: z.array(criterionSchema).min(1) }),
  z.strictObject({ kind: z.literal('skill'), ...common, skill: z.string() }),
]);
export type Gate = z.infer<typeof gateSchema>;

/** The gates of one step: before it does anything, and before other steps use its outcome. */
export const stepGatesSchema = z.strictObject({ pre: z.array(gateSchema), post: z.array(gateSchema) });
export type StepGates = z.infer<typeof stepGatesSchema>;

/** @throws Error for a gate that `check-gates.ts` would have refused */
function toGate({ id, description, criteria, skill, on_failure }: WrittenGate): Gate {
  const common = { id, on_failure, ...(description === undefined ? {} : { description }) };
  if (skill !== undefined) return { kind: 'skill', ...common, skill };
  return { kind: 'criteria', ...common, criteria: (criteria ?? []).map(toCriterion) };
}

function toCriterion({ id, if: expression, because, codeowners, freeze }: WrittenCriterion): GateCriterion {
  if (expression !== undefined)
    return { kind: 'expression', id, if: expression, ...(because === undefined ? {} : { because }) };
  if (freeze !== undefined) return { kind: 'freeze', id, freeze };
  if (codeowners !== undefined) return { kind: 'codeowners', id };
  throw new Error(`the criterion ${id} asks nothing`);
}

const writtenGatesSchema = z.array(writtenGateSchema).min(1).max(MAX_GATES);
const lists = {
  pre: writtenGatesSchema.optional().describe('Judged before the step does anything.'),
  post: writtenGatesSchema.optional().describe('Judged on the step’s outcome, before it counts.'),
};
/** A step's `gates:` as people write it. */
export const writtenStepGatesSchema = z.strictObject(lists);
export type WrittenStepGates = z.infer<typeof writtenStepGatesSchema>;

/** One entry of `gates:` in the settings, for every step that uses that skill or action. */
export const writtenMandatorySchema = z.strictObject({
  uses: z.string().min(1).max(100).describe('The name of a skill or action, or "*" for all.'),
  ...lists,
});
export type WrittenMandatory = z.infer<typeof writtenMandatorySchema>;

export function toStepGates({ pre = [], post = [] }: WrittenStepGates): StepGates {
  return { pre: pre.map(toGate), post: post.map(toGate) };
}
