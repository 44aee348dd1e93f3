import { matchText, NOTHING_TO_MATCH } from '../../messages/cli/skill.ts';
import { createMatcher } from '../../skills/catalogue/match.ts';
import { type Context, type Output, UsageError } from './context.ts';
import { localSkills } from './skill-files.ts';

export interface SkillMatchOptions {
  path?: string[];
}

export async function skillMatch(
  { cwd, tools }: Context,
  words: readonly string[],
  { path: paths = [] }: SkillMatchOptions,
): Promise<Output> {
  if (words.length + paths.length === 0) throw new UsageError(NOTHING_TO_MATCH);
  const { skills } = localSkills(cwd, await tools.skills());
  const matcher = createMatcher(skills.map(({ skill }) => skill));
  const matches = matcher.match({ text: words.join(' '), paths });
  return { text: (screen) => matchText(matches, screen), json: matches };
}
