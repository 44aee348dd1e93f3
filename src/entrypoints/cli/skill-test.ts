import { readCaseFile, type SkillCase } from '../../domain/skill/case-file.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { testedText } from '../../messages/skill-test.ts';
import type { Context, Said } from './context.ts';
import { skillNamed, skillsHere } from './skill-files.ts';

/** Runs the cases of one skill, or of all that have some, as their package's files say it. A skill with faults has none that could be run, and fails. */
export async function skillTest({ cwd, tools }: Context, name: string | undefined): Promise<Said> {
  const here = skillsHere(cwd, await tools.skills());
  const broken = name === undefined ? here.broken : [];
  const packages = (name === undefined ? here.skills : [skillNamed(name, here)]).map(({ skill }) => skill);
  const { runCase } = await import('../../skills/testing/run-case.ts');
  const { signal } = new AbortController();
  const results = [];
  for (const skill of packages) {
    for (const one of casesOf(skill)) {
      const result = await runCase(skill, one, await tools.caseTools(one), signal);
      results.push({ skill: skill.name, case: one.name, ...result });
    }
  }
  return {
    text: testedText(results, name, broken),
    json: {
      cases: results,
      broken: broken.map(({ name, folder, diagnostics }) => ({ name, folder, diagnostics })),
    },
    failed:
      broken.length > 0 ||
      results.some(({ kind }) => kind === 'failed') ||
      // Whoever names a skill wants to know that it was tried.
      (name !== undefined && results.every(({ kind }) => kind === 'left_out')),
  };
}

/** The package was read without faults, so its cases are sound. */
function casesOf({ tests }: SkillPackage): SkillCase[] {
  return tests.flatMap(({ path, text }) => readCaseFile(text, path).cases);
}
