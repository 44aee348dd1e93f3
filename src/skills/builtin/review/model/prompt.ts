import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../../../../core/package-root.ts';
import type { SkillArtifact } from '../../../../domain/skill/skill.ts';

/** `review.md` asks for findings, `refute.md` whether they hold, and `thread.md` what to answer to a reply below one. */
export type PromptName = 'review.md' | 'refute.md' | 'thread.md';

const loaded = new Map<PromptName, SkillArtifact>();

/** The path in the package, as rows and traces name it. */
export function promptPath(name: PromptName): string {
  return `prompts/${name}`;
}

/**
 * A prompt of the review from the shipped package `skills/pr-review`, never from a repository. Read once per
 * process.
 */
export function shippedPrompt(name: PromptName): SkillArtifact {
  const prompt = loaded.get(name) ?? {
    kind: 'prompt_template',
    name,
    ordinal: 0,
    content: readFileSync(`${PACKAGE_ROOT}skills/pr-review/${promptPath(name)}`, 'utf8'),
    modelVariant: null,
    metadata: {},
  };
  loaded.set(name, prompt);
  return prompt;
}
