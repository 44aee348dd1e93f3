import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import { outcomeKindSchema } from '../outcome/outcome.ts';
import { schemaDiagnostics } from './json-schema.ts';
import { MIME_TYPES } from './mime-type.ts';
import { ARTIFACT_ID, unfitGlobReason, unfitPathReason } from './place.ts';

/** Per step. */
export const MAX_EXPECTED = 50;

const base = {
  id: z.string().regex(ARTIFACT_ID),
  required: z.boolean(),
  description: z.string().max(500).optional(),
  /** Who requires it: the skill, which declares what it produces, or the chain's step. */
  source: z.enum(['skill', 'step']),
};

/** Requirements on every file of the entry, which must also exist and not be empty. */
const content = {
  /** In bytes. */
  min_size: z.int().positive().optional(),
  mime_type: z.enum(MIME_TYPES).optional(),
  schema: z
    .record(z.string(), z.json())
    .refine((schema) => schemaDiagnostics(schema).length === 0, { error: 'the schema has errors' })
    .optional(),
};

/** One thing that a session must or should produce. Paths are relative to the session's own folder. */
export const expectedSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('file'),
    ...base,
    path: z.string().refine((path) => unfitPathReason(path) === undefined, { error: 'the path is not safe' }),
    ...content,
  }),
  z.strictObject({
    kind: z.literal('files'),
    ...base,
    glob: z.string().refine((glob) => unfitGlobReason(glob) === undefined, { error: 'the glob is not safe' }),
    /** How many files must match, both limits included. */
    count: z.strictObject({ min: z.int().positive(), max: z.int().positive() }),
    ...content,
  }),
  z.strictObject({ kind: z.literal('outcome'), ...base, outcome: outcomeKindSchema }),
]);
export type Expected = z.infer<typeof expectedSchema>;

/** The artifacts that a session must produce. A clean exit alone does not count as success. */
export const contractSchema = z.strictObject({
  expected: z
    .array(expectedSchema)
    .max(2 * MAX_EXPECTED)
    .refine((entries) => new Set(entries.map(({ id }) => id)).size === entries.length, {
      error: 'two entries have one id',
    }),
});
export type Contract = z.infer<typeof contractSchema>;

/**
 * The contract of a step's session: the entries that its skill usually produces and those of the chain,
 * united by id. An entry of the chain replaces the skill's entry with the same id. Rejected: merging two
 * entries key by key, because then nobody can read in the chain what applies.
 */
export function resolve(skillDefaults: readonly Expected[], stepEntries: readonly Expected[]): Contract {
  const byId = new Map([...skillDefaults, ...stepEntries].map((entry) => [entry.id, entry]));
  return { expected: [...byId.values()] };
}

/** An entry as people name it: `reports/*.json`, `outcome review_verdict`. */
export function entryLabel(entry: Expected): string {
  switch (entry.kind) {
    case 'file':
      return entry.path;
    case 'files':
      return entry.glob;
    case 'outcome':
      return `outcome ${entry.outcome}`;
    default:
      return unreachable(entry);
  }
}

interface WithContract {
  artifacts?: Contract | undefined;
}

/**
 * The chain with the complete contract of each step, as a run stores it. Computed once, before the first step
 * runs, so that neither a new version of a skill nor an edit of the chain affects a run in progress.
 */
export function foldContracts<S extends WithContract, C extends { steps: S[] }>(
  chain: C,
  defaultsOf: (step: C['steps'][number]) => readonly Expected[],
): C {
  return {
    ...chain,
    steps: chain.steps.map((step) => {
      const artifacts = resolve(defaultsOf(step), step.artifacts?.expected ?? []);
      return artifacts.expected.length === 0 ? step : { ...step, artifacts };
    }),
  };
}
