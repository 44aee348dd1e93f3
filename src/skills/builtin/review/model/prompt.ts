import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../../../../core/package-root.ts';
import type { SkillArtifact } from '../../../../domain/skill/skill.ts';

export const PROMPT_PATH = 'prompts/review.md';

let loaded: SkillArtifact | undefined;

/**
 * The review's prompt from the shipped package `skills/pr-review`, never from a repository. Read once per
 * process.
 */
export function shippedPrompt(): SkillArtifact {
  const file = `${PACKAGE_ROOT}skills/pr-review/${PROMPT_PATH}`;
  loaded ??= {
    kind: 'prompt_template',
    name: 'review.md',
    ordinal: 0,
    content: readFileSync(file, 'utf8'),
    modelVariant: null,
    metadata: {},
  };
  return loaded;
}
