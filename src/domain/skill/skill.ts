import { z } from 'zod';

export const ARTIFACT_KINDS = [
  'description',
  'prompt_template',
  'code_template',
  'dspy_module',
  'analyzer',
  'agent',
] as const;

const skillArtifactSchema = z.strictObject({
  kind: z.enum(ARTIFACT_KINDS),
  /** The file's name without its folder, such as `review.md` or `count.py`. */
  name: z.string().min(1).max(200),
  ordinal: z.int().nonnegative(),
  content: z.string(),
  /** The family of models that this variant is for, such as `gpt` or `claude`; null for all. */
  modelVariant: z.string().nullable(),
  metadata: z.record(z.string(), z.json()),
});
export type SkillArtifact = z.infer<typeof skillArtifactSchema>;
