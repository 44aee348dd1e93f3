import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { messageOf } from '../../core/errors.ts';
import { readYaml } from '../chain/positions.ts';
import { readAgentFile } from './agent-file.ts';
import { analyzerDiagnostics } from './analyzer-file.ts';
import { readCaseFile } from './case-file.ts';
import type { SkillOutcome } from './manifest.ts';
import type { PackageFile } from './package.ts';
import { isTestFile, PLACES, placeOf, SKILL_FILE } from './place.ts';
import type { SkillArtifact } from './skill.ts';

/**
 * The kinds of files that can have variants for models. All analyzers of a package run, and an agent uses the
 * prompt that it names.
 */
const HAVE_VARIANTS: ReadonlySet<SkillArtifact['kind']> = new Set([
  'prompt_template',
  'code_template',
  'dspy_module',
]);

export const MAX_FILES = 50;
/** Of one file, in bytes of UTF-8. */
export const MAX_FILE_BYTES = 65_536;
/** Of all files together, in bytes. */
export const MAX_PACKAGE_BYTES = 524_288;

/**
 * Diagnostics of a package's files beyond its SKILL.md: paths, sizes, duplicate names, invalid data.
 * @param outcome the package's outcome, if its SKILL.md is readable
 */
export function checkFiles(
  files: readonly PackageFile[],
  folder: string,
  outcome: SkillOutcome | undefined,
): Diagnostic[] {
  const packageDiagnostic = (message: string): Diagnostic => ({
    file: `${folder}/${SKILL_FILE}`,
    line: 1,
    column: 1,
    message,
  });
  const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const skillFiles = files.filter(({ path }) => path === SKILL_FILE).length;
  return [
    ...(skillFiles === 1 ? [] : [packageDiagnostic(`a skill package needs a ${SKILL_FILE}`)]),
    ...(files.length > MAX_FILES
      ? [packageDiagnostic(`a package has at most ${MAX_FILES} files, not ${files.length}`)]
      : []),
    ...(bytes > MAX_PACKAGE_BYTES
      ? [packageDiagnostic(`a package has at most ${MAX_PACKAGE_BYTES / 1_024} KB in all its files`)]
      : []),
    // This compares each file with all others.
    ...(files.length > MAX_FILES ? [] : files)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .flatMap((file) => checkFile(file, files, folder, outcome)),
  ];
}

function checkFile(
  file: PackageFile,
  files: readonly PackageFile[],
  folder: string,
  outcome: SkillOutcome | undefined,
): Diagnostic[] {
  const diagnostic = (message: string): Diagnostic => ({
    file: `${folder}/${file.path}`,
    line: 1,
    column: 1,
    message,
  });
  const place = placeOf(file.path);
  if (!place && !isTestFile(file.path))
    return [diagnostic(notAllowed('a package has no such file', PLACES, file.path))];
  if (place && place.modelVariant !== null && !HAVE_VARIANTS.has(place.kind))
    return [
      diagnostic(
        `only files of prompts/, code/ and modules/ have variants, such as "@${place.modelVariant}"`,
      ),
    ];
  if (Buffer.byteLength(file.text) > MAX_FILE_BYTES) return [diagnostic('the file is larger than 64 KB')];
  if (file.text.trim() === '') return [diagnostic('the file is empty')];
  const duplicate = files.find((other) => other.path < file.path && isSame(other, file));
  return [
    ...(duplicate
      ? [diagnostic(`${duplicate.path} has the same name; a package's artifacts are told apart by it`)]
      : []),
    ...unreadable(file, diagnostic),
    ...dataDiagnostics(file, `${folder}/${file.path}`, diagnostic, files, outcome),
  ];
}

function isSame(one: PackageFile, other: PackageFile): boolean {
  const [a, b] = [placeOf(one.path), placeOf(other.path)];
  return a !== undefined && a.name === b?.name && a.modelVariant === b.modelVariant;
}

/**
 * U+FFFD replaces invalid UTF-8. Databases cannot store a NUL as text, and files cannot store an unpaired
 * surrogate.
 */
function unreadable({ text }: PackageFile, diagnostic: (message: string) => Diagnostic): Diagnostic[] {
  const isText = !/[\0\uFFFD]/.test(text) && text.isWellFormed();
  return isText ? [] : [diagnostic('the file holds something that is not UTF-8 text')];
}

function dataDiagnostics(
  { path, text }: PackageFile,
  file: string,
  diagnostic: (message: string) => Diagnostic,
  files: readonly PackageFile[],
  outcome: SkillOutcome | undefined,
): Diagnostic[] {
  if (isTestFile(path)) return [...readCaseFile(text, file, outcome).diagnostics];
  if (placeOf(path)?.kind === 'analyzer') return [...analyzerDiagnostics(text, file)];
  if (placeOf(path)?.kind === 'agent') {
    const paths = files.map((other) => other.path);
    return [...readAgentFile(text, file, paths).diagnostics];
  }
  if (path.endsWith('.yml')) return [...readYaml(text, file).diagnostics];
  if (!path.endsWith('.json')) return [];
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [diagnostic(`this is not valid JSON: ${messageOf(error)}`)];
  }
}
