import { contractOf } from '../../domain/skill/package.ts';
import { pathOf } from '../../domain/skill/place.ts';
import { skillText } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { localSkills, skillNamed } from './skill-files.ts';

export async function skillShow({ cwd, tools }: Context, name: string): Promise<Output> {
  const known = await tools.skills();
  const found = skillNamed(name, localSkills(cwd, known));
  const isBuiltIn = known.builtIn.includes(name);
  const { skill, scope, folder } = found;
  return {
    text: (screen) => skillText(found, isBuiltIn, screen),
    json: {
      id: skill.id,
      name: skill.name,
      scope,
      folder,
      built_in: isBuiltIn,
      description: skill.description,
      version: skill.version,
      author: skill.author,
      tags: skill.tags,
      intent_patterns: skill.intentPatterns,
      trigger_phrases: skill.triggerPhrases,
      paths: skill.paths,
      outcome: skill.outcome,
      trust: skill.trust,
      artifact_defaults: contractOf(skill),
      cognitive_hints: skill.cognitiveHints,
      artifacts: skill.artifacts.map((artifact) => ({
        path: pathOf(artifact),
        kind: artifact.kind,
        name: artifact.name,
        ordinal: artifact.ordinal,
        model_variant: artifact.modelVariant,
        metadata: artifact.metadata,
        bytes: Buffer.byteLength(artifact.content),
      })),
    },
  };
}
