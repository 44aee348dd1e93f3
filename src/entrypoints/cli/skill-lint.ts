import { outcomesOf } from '../../domain/skill/package.ts';
import { unknownUses } from '../../domain/skill/parse.ts';
import { skillLintText } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { checkPackages, localSkills } from './skill-files.ts';

/** Fails for errors, with `strict` for warnings too. */
export async function skillLint(
  { cwd, tools }: Context,
  paths: readonly string[],
  { strict = false }: { strict?: boolean },
): Promise<Output> {
  const account = await tools.skills();
  const { builtIn } = account;
  const { missingArtifact, syntaxDiagnostics } = await import('../../skills/lint/syntax.ts');
  const checked = checkPackages(cwd, paths, builtIn);
  const local = localSkills(cwd, account);
  const here = [
    ...local.skills.map(({ skill, folder }) => ({ name: skill.name, skill, folder })),
    ...checked,
  ];
  const known = here.flatMap(({ skill }) => skill ?? []);
  const runnable = Object.keys(outcomesOf(known))
    .filter((name) => !builtIn.includes(name))
    .sort();
  const seen = new Set([...builtIn, ...[...here, ...local.broken].map(({ name }) => name)]);
  const packages = await Promise.all(
    checked.map(async ({ folder, name, skill, ...one }) => {
      const found = skill
        ? [
            ...missingArtifact(skill, folder),
            ...unknownUses(skill, folder, runnable, (used) => !seen.has(used)),
            ...(await syntaxDiagnostics(skill, folder)),
          ]
        : one.diagnostics;
      const diagnostics = found.filter(({ severity }) => severity === undefined);
      const warnings = found.filter(({ severity }) => severity === 'warning');
      const ok = diagnostics.length === 0 && !(strict && warnings.length > 0);
      return { folder, name, ok, diagnostics, warnings };
    }),
  );
  return {
    text: (screen) => skillLintText(packages, paths, screen),
    json: {
      skills: packages.map(({ diagnostics, ...one }) => ({ ...one, faults: diagnostics })),
    },
    failed: packages.some(({ ok }) => !ok),
  };
}
