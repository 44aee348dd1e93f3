import { skillLintText } from '../../messages/cli/skill.ts';
import type { Context, Output } from './context.ts';
import { checkPackages } from './skill-files.ts';

export async function skillLint({ cwd, tools }: Context, paths: readonly string[]): Promise<Output> {
  const { builtIn } = await tools.skills();
  const { missingArtifact, syntaxDiagnostics } = await import('../../skills/lint/syntax.ts');
  const packages = await Promise.all(
    checkPackages(cwd, paths, builtIn).map(async (one) => ({
      ...one,
      diagnostics: one.skill
        ? [...missingArtifact(one.skill, one.folder), ...(await syntaxDiagnostics(one.skill, one.folder))]
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
