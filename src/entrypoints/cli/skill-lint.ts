import { outcomesOf } from '../../domain/skill/package.ts';
import { unknownUses } from '../../domain/skill/parse.ts';
import { skillLintText } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { checkPackages, localSkills } from './skill-files.ts';

export async function skillLint({ cwd, tools }: Context, paths: readonly string[]): Promise<Output> {
  const account = await tools.skills();
  const { builtIn } = account;
  const { missingArtifact, syntaxDiagnostics } = await import('../../skills/lint/syntax.ts');
  const checked = checkPackages(cwd, paths, builtIn);
  const known = [...localSkills(cwd, account).skills, ...checked].flatMap(({ skill }) => skill ?? []);
  const runnable = Object.keys(outcomesOf(known))
    .filter((name) => !builtIn.includes(name))
    .sort();
  const packages = await Promise.all(
    checked.map(async (one) => ({
      ...one,
      diagnostics: one.skill
        ? [
            ...missingArtifact(one.skill, one.folder),
            ...unknownUses(one.skill, one.folder, runnable),
            ...(await syntaxDiagnostics(one.skill, one.folder)),
          ]
        : one.diagnostics,
    })),
  );
  return {
    text: skillLintText(packages, paths),
    json: {
      skills: packages.map(({ folder, name, diagnostics }) => ({
        folder,
        name,
        ok: diagnostics.length === 0,
        faults: diagnostics,
      })),
    },
    failed: packages.some(({ diagnostics }) => diagnostics.length > 0),
  };
}
