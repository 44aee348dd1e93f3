import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import { OUTCOME_KINDS } from '../outcome/outcome.ts';
import { schemaDiagnostics } from './json-schema.ts';
import { MIME_TYPES } from './mime-type.ts';
import { ARTIFACT_ID, unfitGlobReason, unfitPathReason } from './place.ts';

/** Entries of one step, at most. */
export const MAX_EXPECTED = 50;

const base = {
  id: z.string().regex(ARTIFACT_ID),
  required: z.boolean(),
  description: z.string().max(500).optional(),
  /** Who asked for it: the skill's own word about what it leaves behind, or the chain's. */
  source: z.enum(['skill', 'step']),
};

/** What every file of the entry must be, besides there and not empty. */
const content = {
  /** In bytes. */
  min_size: z.int().positive().optional(),
  mime_type: z.enum(MIME_TYPES).optional(),
  schema: z
    .record(z.string(), z.json())
    .refine((schema) => schemaDiagnostics(schema).length === 0, { error: 'the schema has faults' })
    .optional(),
};

/** One thing that a session must, or should, leave behind. Paths are relative to the session's own folder. */
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
    /** How many files there must be, both ends included. */
    count: z.strictObject({ min: z.int().positive(), max: z.int().positive() }),
    ...content,
  }),
  z.strictObject({ kind: z.literal('outcome'), ...base, outcome: z.enum(OUTCOME_KINDS) }),
]);
export type Expected = z.infer<typeof expectedSchema>;

/** What a session must leave behind: a clean exit is not a delivery. */
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
 * What a step's session must leave behind: the union by id of what its skill usually produces and what the chain says.
 * The chain's entry replaces the skill's entirely, in its place. Merging the two key by key was rejected: nobody could read
 * in the chain what holds.
 */
export function resolve(skillDefaults: readonly Expected[], stepEntries: readonly Expected[]): Contract {
  const byId = new Map([...skillDefaults, ...stepEntries].map((entry) => [entry.id, entry]));
  return { expected: [...byId.values()] };
}

/** What an entry asks for, as people name it: `reports/*.json`, `outcome review_verdict`. */
export function placeOf(entry: Expected): string {
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
 * The chain with the whole contract of each step, as a run keeps it: folded in once, before the first step runs, so that
 * neither another version of a skill nor an edit of the chain reaches a run under way.
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
