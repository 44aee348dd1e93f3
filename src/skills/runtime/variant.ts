import type { SkillArtifact } from '../../domain/skill/skill.ts';

/**
 * The variant of a named artifact for a family of models: its own, or the general one, or the first.
 * @param artifacts by ordinal
 * @param family `null` if no model is configured
 */
export function variantFor(
  artifacts: readonly SkillArtifact[],
  name: string,
  family: string | null,
): SkillArtifact | undefined {
  const variants = artifacts.filter((artifact) => artifact.name === name);
  return (
    variants.find(({ modelVariant }) => modelVariant !== null && modelVariant.toLowerCase() === family) ??
    variants.find(({ modelVariant }) => modelVariant === null) ??
    variants[0]
  );
}
