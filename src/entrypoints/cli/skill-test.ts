import { readCaseFile, type SkillCase } from '../../domain/skill/case-file.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { casePlayed } from '../../messages/cli/progress.ts';
import { type Tested, testedText } from '../../messages/cli/skill-test.ts';
import type { Context, Output } from './context.ts';
import { callableIn, localSkills, skillNamed } from './skill-files.ts';

/**
 * Runs the cases of one skill, or of all that have some, with the package's files as they are. A skill with
 * errors fails.
 */
export async function skillTest({ cwd, tools, status }: Context, name: string | undefined): Promise<Output> {
  const here = localSkills(cwd, await tools.skills());
  const broken = name === undefined ? here.broken : [];
  const packages = (name === undefined ? here.skills : [skillNamed(name, here)]).map(({ skill }) => skill);
  const { runCase } = await import('../../skills/testing/run-case.ts');
  const { signal } = new AbortController();
  const results: Tested[] = [];
  const cases = packages.flatMap((skill) => casesOf(skill).map((one) => ({ skill, one })));
  for (const [index, { skill, one }] of cases.entries()) {
    status(casePlayed(index + 1, cases.length, one.name));
    const caseTools = await tools.caseTools(one);
    const result = await runCase(skill, one, { ...caseTools, packages: callableIn(here) }, signal).finally(
      caseTools.stop,
    );
    results.push({ skill: skill.name, case: one.name, ...result });
  }
  return {
    text: (screen) => testedText(results, name, broken, screen),
    json: {
      cases: results,
      broken: broken.map(({ name, folder, diagnostics }) => ({ name, folder, faults: diagnostics })),
    },
    failed:
      broken.length > 0 ||
      results.some(({ kind }) => kind === 'failed') ||
      // If you name a skill, the command fails unless a case ran.
      (name !== undefined && results.every(({ kind }) => kind === 'left_out')),
  };
}

/** The package was read without errors, so its cases are valid. */
function casesOf({ tests }: SkillPackage): SkillCase[] {
  return tests.flatMap(({ path, text }) => readCaseFile(text, path).cases);
}
