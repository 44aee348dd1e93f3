import { z } from 'zod';
import type { SkillArtifact } from './skill.ts';

/** The file that the answer of a prompt or a module leaves. */
export const producesSchema = z
  .strictObject({
    path: z.string().describe('The file, such as report.md.'),
    output: z.string().optional().describe('The module’s output with its content.'),
  })
  .describe('A file that the answer leaves, beside the outcome. Of prompts and modules.');
export type Produces = z.infer<typeof producesSchema>;

/** What the artifact leaves, as its own metadata or that of the variant for all models says. */
export function producesOf(
  { name, metadata }: SkillArtifact,
  { artifacts }: { readonly artifacts: readonly SkillArtifact[] },
): Produces | undefined {
  const general = artifacts.find((other) => other.name === name && other.modelVariant === null);
  return producesSchema.safeParse(metadata.produces ?? general?.metadata.produces).data;
}
