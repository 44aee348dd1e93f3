import { skillLintText } from '../../messages/skill.ts';
import type { Context, Said } from './context.ts';
import { checkPackages } from './skill-files.ts';

export async function skillLint({ cwd, tools }: Context, paths: readonly string[]): Promise<Said> {
  const { builtIn } = await tools.skills();
  const [{ syntaxFaults }, { missingWay }] = await Promise.all([
    import('../../skills/lint/syntax.ts'),
    import('../../skills/lint/ways.ts'),
  ]);
  const packages = await Promise.all(
    checkPackages(cwd, paths, builtIn).map(async (one) => ({
      ...one,
      faults: one.skill
        ? [...missingWay(one.skill, one.folder), ...(await syntaxFaults(one.skill, one.folder))]
        : one.faults,
    })),
  );
  return {
    text: skillLintText(packages, paths),
    json: {
      skills: packages.map(({ folder, name, faults }) => ({ folder, name, ok: faults.length === 0, faults })),
    },
    failed: packages.some(({ faults }) => faults.length > 0),
  };
}
