import { MAX_NAME_LENGTH, SKILL_NAME, type SkillOutcome } from '../skill/package/manifest.ts';
import { parsePackage } from '../skill/package/parse.ts';
import { resolveSkills } from '../skill/registry/scope.ts';
import { brokenSkill, notASkillName, skillBegun } from '../words/skill.ts';
import { type Context, Misuse, type Said } from './context.ts';
import { writePackage } from './skill-files.ts';
import { scaffold } from './skill-scaffold.ts';

export interface SkillNewOptions {
  description?: string;
  outcome: SkillOutcome;
}

export async function skillNew(
  { cwd, tools }: Context,
  name: string,
  { description, outcome }: SkillNewOptions,
): Promise<Said> {
  if (!SKILL_NAME.test(name) || name.length > MAX_NAME_LENGTH) throw new Misuse(notASkillName(name));
  const { builtIn } = await tools.skills();
  const parsed = parsePackage(scaffold(name, description, outcome), name);
  const [broken] = resolveSkills({ workspace: [parsed], organisation: [], shipped: [] }, builtIn).broken;
  if (!parsed.skill || broken) throw new Misuse(brokenSkill(name, broken?.faults ?? parsed.faults));
  const written = writePackage(cwd, parsed.skill);
  return { text: skillBegun(written.files), json: { name, ...written } };
}
