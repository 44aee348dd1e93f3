import { z } from 'zod';
import { contractSchema } from '../artifact/contract.ts';
import { slotSchema } from '../expression/state-slot.ts';
import { stepGatesSchema } from '../gate/gate.ts';
import { TRUST_LEVELS } from '../policy/trust.ts';
import { MAX_RULES, writtenRuleSchema } from '../rule/rule.ts';

/** Events a chain may wait for. `pr.opened` also fires on `pr.updated`: the newer run supersedes the older one. */
export const TRIGGER_EVENTS = [
  'pr.opened',
  'pr.updated',
  'pr.merged',
  'pr.closed',
  'issue.created',
  'file.changed',
  'manual.fired',
] as const;
export type TriggerEvent = (typeof TRIGGER_EVENTS)[number];

export const FILTER_KEYS = ['base', 'head', 'draft', 'author', 'labels', 'paths'] as const;
export type FilterKey = (typeof FILTER_KEYS)[number];

const PULL_REQUEST_FILTERS: readonly FilterKey[] = FILTER_KEYS;

/** The filters that mean something for an event. Others are faults, because they would silently never apply. */
export const FILTERS_OF: Readonly<Record<TriggerEvent, readonly FilterKey[]>> = {
  'pr.opened': PULL_REQUEST_FILTERS,
  'pr.updated': PULL_REQUEST_FILTERS,
  'pr.merged': PULL_REQUEST_FILTERS,
  'pr.closed': PULL_REQUEST_FILTERS,
  'issue.created': ['author', 'labels'],
  'file.changed': ['base', 'author', 'paths'],
  'manual.fired': [],
};

export const CHAIN_NAME = /^[a-z][a-z0-9-]{0,49}$/;
export const STEP_ID = /^[a-z][a-z0-9_-]*$/;
export const MAX_STEPS = 50;

/** The action that merges. Whatever else a chain says, its step needs a countersign. */
export const MERGE_ACTION = 'gh-merge';

/** What a step may say in the place of a skill’s name to have one chosen that fits. */
export const AUTO_SKILL = 'auto';

const filterSchema = z.strictObject({
  base: z.array(z.string()).optional(),
  head: z.array(z.string()).optional(),
  draft: z.boolean().optional(),
  author: z.array(z.string()).optional(),
  labels: z.array(z.string()).optional(),
  paths: z.array(z.string()).optional(),
});

/** A package by the id of its content, with what must be known of it before it is read. */
const packageReferenceSchema = z.strictObject({
  id: z.string(),
  /** The least trust a run needs for it. */
  trust: z.enum(TRUST_LEVELS),
  /** The slots of the run's working memory that its outcome fills. */
  produces: z.array(slotSchema),
});
export type PackageReference = z.infer<typeof packageReferenceSchema>;

/** A package that a step may choose. */
const candidateSchema = packageReferenceSchema.extend({ name: z.string() });
export type Candidate = z.infer<typeof candidateSchema>;

const stepSchema = z.strictObject({
  id: z.string().regex(STEP_ID),
  index: z.int().nonnegative(),
  uses: z.strictObject({
    kind: z.enum(['skill', 'action']),
    name: z.string(),
    /** The skill package that the name meant when the run began; absent for what is built in. */
    package: packageReferenceSchema.optional(),
    /** Of a step that leaves its skill open: the packages that it could mean when the run began. */
    candidates: z.array(candidateSchema).optional(),
  }),
  dependsOn: z.array(z.string()),
  condition: z.string().optional(),
  with: z.record(z.string(), z.json()),
  timeoutMs: z.int().positive().optional(),
  retry: z.strictObject({ attempts: z.int().min(1).max(10), backoffMs: z.int().nonnegative() }),
  onFailure: z.enum(['fail', 'continue']),
  requiresApproval: z.boolean(),
  /** Absent in runs that were begun before there were rules, as in steps without any. */
  validate: z.array(writtenRuleSchema).max(MAX_RULES).optional(),
  expect: z.array(writtenRuleSchema).max(MAX_RULES).optional(),
  /** As written; in a run's definition, what its skill usually produces is folded in. */
  artifacts: contractSchema.optional(),
  /** By slot, an expression over the step's outcome. */
  outputMapping: z.partialRecord(slotSchema, z.string()).optional(),
  /** In a run's definition, the slots that its skill fills; absent in chains that no run has begun, and in older runs. */
  produces: z.array(slotSchema).optional(),
  /** The step's own gates; those of the settings come to them when it runs. */
  gates: stepGatesSchema.optional(),
});

/**
 * A chain as the engine runs it and as a run snapshots it: defaults filled in, dependencies resolved, durations in
 * milliseconds. What people write is the shape in `chain-file.ts`; keeping the two apart lets the file's spelling
 * change without touching stored runs.
 */
export const chainSchema = z.strictObject({
  name: z.string().regex(CHAIN_NAME),
  description: z.string().optional(),
  trigger: z.strictObject({ event: z.enum(TRIGGER_EVENTS), filter: filterSchema }),
  steps: z.array(stepSchema).min(1).max(MAX_STEPS),
});

export type Chain = z.infer<typeof chainSchema>;
export type TriggerFilter = z.infer<typeof filterSchema>;
/** `retry.attempts` counts all attempts, the first one included; `dependsOn` holds step ids. */
export type Step = z.infer<typeof stepSchema>;

/** Whether any step of the chain merges. */
export function merges({ steps }: Pick<Chain, 'steps'>): boolean {
  return steps.some(({ uses }) => uses.name === MERGE_ACTION);
}
