import { createMatcher } from '../skill/match.ts';
import { matchText } from '../words/skill.ts';
import type { Context, Said } from './context.ts';
import { skillsHere } from './skill-files.ts';

export interface SkillMatchOptions {
  path?: string[];
}

export async function skillMatch(
  { cwd, tools }: Context,
  words: readonly string[],
  { path: paths = [] }: SkillMatchOptions,
): Promise<Said> {
  const { skills } = skillsHere(cwd, await tools.skills());
  const matcher = createMatcher(skills.map(({ skill }) => skill));
  const matches = matcher.match({ text: words.join(' '), paths });
  return { text: matchText(matches), json: matches };
}
