import { familyOf, type ModelName } from '../../model/name.ts';
import type { SkillArtifact } from '../package/skill.ts';

/**
 * The variant of a prompt for a model: the one for its family, else the one for all models, else the first by ordinal.
 * @param variants Prompt templates of one name.
 */
export function variantFor(variants: readonly SkillArtifact[], model: ModelName): SkillArtifact | undefined {
  const inOrder = variants
    .filter(({ kind }) => kind === 'prompt_template')
    .sort((one, other) => one.ordinal - other.ordinal);
  const family = familyOf(model);
  return (
    inOrder.find(({ modelVariant }) => modelVariant?.toLowerCase() === family) ??
    inOrder.find(({ modelVariant }) => modelVariant === null) ??
    inOrder[0]
  );
}
