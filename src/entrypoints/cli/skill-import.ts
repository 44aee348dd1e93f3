import { CountersignError } from '../../core/errors.ts';
import { resolveSkills } from '../../domain/skill/scope.ts';
import { brokenSkill, skillImported } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { packageInFile, writePackage } from './skill-files.ts';

export async function skillImport({ cwd, tools }: Context, file: string): Promise<Output> {
  const { builtIn } = await tools.skills();
  const { skill, unused } = packageInFile(cwd, file);
  const parsed = { folder: file, name: skill.name, skill, diagnostics: [] };
  const [broken] = resolveSkills({ workspace: [parsed], organisation: [], shipped: [] }, builtIn).broken;
  if (broken) throw new CountersignError('cli.broken_skill', brokenSkill(skill.name, broken.diagnostics));
  const written = writePackage(cwd, skill);
  return {
    text: skillImported(skill.name, written.folder, written.files.length, unused),
    json: { name: skill.name, ...written, unused },
  };
}
