import { formatDiagnostic } from '../../src/core/diagnostic.ts';
import type { PackageFile, SkillPackage } from '../../src/domain/skill/package.ts';
import { parsePackage } from '../../src/domain/skill/parse.ts';

export const FOLDER = '.github/countersign/skills/naming';

/** A SKILL.md with these lines in its frontmatter, beside name and description. */
export function skillMd(lines = '', name = 'naming', body = '# Naming\n'): string {
  return `---\nname: ${name}\ndescription: Looks at the names of things.\n${lines}---\n\n${body}`;
}

export function files(more: Record<string, string> = {}, skill = skillMd()): PackageFile[] {
  return Object.entries({ 'SKILL.md': skill, ...more }).map(([path, text]) => ({ path, text }));
}

export function errorsOf(given: readonly PackageFile[]): string[] {
  return parsePackage(given, FOLDER).diagnostics.map(formatDiagnostic);
}

/** The package of these files. Throws with the errors if a test's files are invalid. */
export function packageOf(given: readonly PackageFile[], folder = FOLDER): SkillPackage {
  const { skill, diagnostics } = parsePackage(given, folder);
  if (!skill)
    throw new Error(`the test's own package has errors:\n${diagnostics.map(formatDiagnostic).join('\n')}`);
  return skill;
}
