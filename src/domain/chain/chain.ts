import { z } from 'zod';
import { contractSchema } from '../artifact/contract.ts';
import { slotSchema } from '../expression/state-slot.ts';
import { stepGatesSchema } from '../gate/gate.ts';
import { GATE_SCOPES } from '../gate/placed.ts';
import { actionOf } from '../policy/capability.ts';
import { stepApprovalSchema } from '../policy/countersign-rules.ts';
import { TRUST_LEVELS } from '../policy/trust.ts';
import { MAX_RULES, writtenRuleSchema } from '../rule/rule.ts';
import { chainInputsSchema } from './chain-inputs.ts';
import type { StoredTrigger } from './trigger-schema.ts';

export const CHAIN_NAME = /^[a-z][a-z0-9-]{0,49}$/;
export const STEP_ID = /^[a-z][a-z0-9_-]*$/;
export const MAX_STEPS = 50;
/** How many steps of a run work at once: the limit of a chain that names none, and the highest it may name. */
export const PARALLEL_STEPS = { usual: 4, most: 16 } as const;

/** A step can name this instead of a skill; Countersign then chooses a skill that fits. */
export const AUTO_SKILL = 'auto';

/** A package by the id of its content, with what the engine must know before it reads the package. */
const packageReferenceSchema = z.strictObject({
  id: z.string(),
  /** The lowest trust level with which a run can use it. */
  trust: z.enum(TRUST_LEVELS),
  /** The slots of the run's working memory that its outcome fills. */
  produces: z.array(slotSchema),
  /** By name, the packages that its programs can run. Absent if there are none, and in older runs. */
  uses: z.record(z.string(), z.string()).optional(),
});
export type PackageReference = z.infer<typeof packageReferenceSchema>;

/** A package that a gate of the step asks, by the scope that requires the gate. */
const gatePackageSchema = packageReferenceSchema.extend({ name: z.string(), scope: z.enum(GATE_SCOPES) });

/** A package that a step may choose. */
const candidateSchema = packageReferenceSchema.extend({ name: z.string() });
export type Candidate = z.infer<typeof candidateSchema>;

const stepSchema = z.strictObject({
  id: z.string().regex(STEP_ID),
  index: z.int().nonnegative(),
  uses: z.strictObject({
    kind: z.enum(['skill', 'action']),
    name: z.string(),
    /**
     * The skill package that the name referred to when the run began; absent for built-in skills and actions.
     */
    package: packageReferenceSchema.optional(),
    /** For a step with `skill: auto`: the packages that it could choose from when the run began. */
    candidates: z.array(candidateSchema).optional(),
  }),
  dependsOn: z.array(z.string()),
  /**
   * The step has no `depends_on` and follows another only by its place in the file. Absent in runs that began
   * before this was kept, whose steps depend on the step before in any case.
   */
  inSequence: z.literal(true).optional(),
  condition: z.string().optional(),
  with: z.record(z.string(), z.json()),
  timeoutMs: z.int().positive().optional(),
  retry: z.strictObject({ attempts: z.int().min(1).max(10), backoffMs: z.int().nonnegative() }),
  onFailure: z.enum(['fail', 'continue']),
  requiresApproval: z.boolean(),
  /** What the step asks of those who countersign it. Absent with `requires_approval: true`. */
  approval: stepApprovalSchema.optional(),
  /** Absent in steps without rules, and in runs that began before rules existed. */
  validate: z.array(writtenRuleSchema).max(MAX_RULES).optional(),
  expect: z.array(writtenRuleSchema).max(MAX_RULES).optional(),
  /** In a chain file: as written. In a run's definition: with the entries that the skill usually produces. */
  artifacts: contractSchema.optional(),
  /** By slot, an expression over the step's outcome. */
  outputMapping: z.partialRecord(slotSchema, z.string()).optional(),
  /** In a run's definition: the slots that its skill fills. Absent in chain files and in older runs. */
  produces: z.array(slotSchema).optional(),
  /** The step's own gates. Those of the settings are added when the step runs. */
  gates: stepGatesSchema.optional(),
  /** In a run's definition: the packages that the step's gates asked when the run began. */
  gatePackages: z.array(gatePackageSchema).optional(),
});

/**
 * A chain as the engine runs it and a run stores it: with defaults filled in, dependencies resolved, and
 * durations in milliseconds. The YAML shape is in `chain-file.ts`. The two are separate so that the YAML
 * syntax can change without affecting stored runs.
 */
export const chainSchema = z.strictObject({
  name: z.string().regex(CHAIN_NAME),
  description: z.string().optional(),
  /** One trigger, or several if the file has a list. */
  trigger: z.custom<StoredTrigger>(),
  /** Absent in chains that declare none, and in older runs. */
  inputs: chainInputsSchema.optional(),
  /** Absent in chains that name none, and in older runs. */
  maxParallel: z.int().min(1).max(PARALLEL_STEPS.most).optional(),
  steps: z.array(stepSchema).min(1).max(MAX_STEPS),
});

export type Chain = z.infer<typeof chainSchema>;
/** `retry.attempts` includes the first attempt; `dependsOn` has step ids. */
export type Step = z.infer<typeof stepSchema>;

export function merges({ steps }: Pick<Chain, 'steps'>): boolean {
  return steps.some(({ uses }) => actionOf(uses)?.merges);
}
