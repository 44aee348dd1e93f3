import { z } from 'zod';
import type { SkillArtifact } from './skill.ts';

const MAX_ASSERTIONS = 20;
const count = z.int().min(0).max(1_000_000).optional();
const pattern = z.string().min(1).max(1_000).optional();

const base = {
  of: z
    .string()
    .regex(/^[A-Za-z_]\w{0,63}(\.\w{1,64}){0,5}$/, {
      error: '"of" names a member of what the artifact gives back, such as summary or criteria.0.id',
    })
    .optional()
    .describe('The member that is checked. If left out, the whole value.'),
  on_failure: z.enum(['abort', 'warn']).optional().describe('Left out, abort: the step fails.'),
};

/** A condition on the result of an artifact, as the SKILL.md declares it. */
export const assertionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('structural'), ...base, schema: z.record(z.string(), z.json()) }),
  z.strictObject({
    kind: z.literal('length'),
    ...base,
    min_characters: count,
    max_characters: count,
    min_tokens: count,
    max_tokens: count,
  }),
  z.strictObject({
    kind: z.literal('pattern'),
    ...base,
    contains: pattern.describe('A regular expression (RE2 syntax) that is found in it.'),
    lacks: pattern.describe('One that is not.'),
  }),
  z.strictObject({
    kind: z.literal('semantic'),
    ...base,
    question: z.string().min(1).max(500).describe('What a model is asked of it; yes means that it holds.'),
  }),
]);
export type Assertion = z.infer<typeof assertionSchema>;

export const assertionsSchema = z.array(assertionSchema).min(1).max(MAX_ASSERTIONS);

/**
 * The assertions on an artifact.
 * @throws ZodError for metadata that no package without diagnostics can have
 */
export function assertionsOf({ metadata }: SkillArtifact): Assertion[] {
  return metadata.assert === undefined ? [] : assertionsSchema.parse(metadata.assert);
}
