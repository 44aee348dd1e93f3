import { existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { CountersignError } from '../../core/errors.ts';
import { ORGANISATION_SKILLS, SKILLS_FOLDER } from '../../domain/chain/configuration-files.ts';
import { MAX_FILE_BYTES } from '../../domain/skill/check-files.ts';
import { readDescribed } from '../../domain/skill/described.ts';
import { packageFromJson } from '../../domain/skill/json.ts';
import {
  filesOf,
  type PackageFile,
  type ParsedPackage,
  type SkillPackage,
} from '../../domain/skill/package.ts';
import { parsePackage } from '../../domain/skill/parse.ts';
import { PACKAGE_FOLDERS, SKILL_FILE } from '../../domain/skill/place.ts';
import { type BrokenSkill, resolveSkills, type SkillInForce } from '../../domain/skill/scope.ts';
import { tooLarge } from '../../messages/check-run/configuration-check.ts';
import { noSuchPath } from '../../messages/cli/cli.ts';
import { brokenSkill, cannotWrite, skillExists, unknownSkill } from '../../messages/cli/skill.ts';
import type { KnownSkills } from './context.ts';
import { readText, writeNew } from './files.ts';

export interface LocalSkills {
  skills: SkillInForce[];
  broken: BrokenSkill[];
}

/** The skills for a repository whose base branch equals this folder, without those of its organisation, and of indexes only those given. */
export function localSkills(
  cwd: string,
  { builtIn, shipped }: KnownSkills,
  community: readonly ParsedPackage[] = [],
): LocalSkills {
  const scopes = { workspace: packagesIn(cwd, SKILLS_FOLDER), organisation: [], shipped, community };
  return resolveSkills(scopes, builtIn);
}

/** The packages that programs of the working folder's skills can run. */
export function callableIn({ skills }: LocalSkills): (name: string) => Promise<SkillPackage | undefined> {
  return async (name) => skills.find(({ skill }) => skill.name === name)?.skill;
}

/** @throws CountersignError if there is no valid skill of that name */
export function skillNamed(name: string, { skills, broken }: LocalSkills): SkillInForce {
  const found = skills.find(({ skill }) => skill.name === name);
  if (found) return found;
  const invalid = broken.find((one) => one.name === name);
  if (invalid) throw new CountersignError('cli.broken_skill', brokenSkill(name, invalid.diagnostics));
  const names = skills.map(({ skill }) => skill.name);
  throw new CountersignError('cli.unknown_skill', unknownSkill(name, names));
}

/**
 * The packages that the paths refer to, with their errors, including errors in the name.
 * @throws CountersignError if a path does not exist or cannot be read
 */
export function checkPackages(
  cwd: string,
  paths: readonly string[],
  builtIn: readonly string[],
): ParsedPackage[] {
  const found = paths.length === 0 ? ofRepository(cwd, '.') : paths.flatMap((path) => expand(cwd, path));
  // Two files of one package refer to the same package.
  const each = new Map(found.map((parsed) => [resolve(cwd, parsed.folder), parsed]));
  return [...each.values()].map((parsed) => {
    // Elsewhere, such as in the folder of the shipped skills (`~/countersign/skills`), a package may have the
    // name of a built-in skill.
    const isOwn = resolve(cwd, parsed.folder).includes(join(sep, SKILLS_FOLDER, sep));
    const scopes = { workspace: isOwn ? [parsed] : [], organisation: [], shipped: isOwn ? [] : [parsed] };
    const [broken] = resolveSkills(scopes, builtIn).broken;
    return broken ? { ...parsed, skill: undefined, diagnostics: broken.diagnostics } : parsed;
  });
}

/**
 * An exported package, or one in the format of another skill system, with what of that could not be used.
 * @throws CountersignError if the file cannot be read or has errors
 */
export function packageInFile(cwd: string, file: string): { skill: SkillPackage; unused: string[] } {
  const text = readText(cwd, file);
  const described = readDescribed(text);
  const { skill, diagnostics } = described
    ? parsePackage(described.files, `${file}#${described.name}`, described.name)
    : packageFromJson(text, file);
  if (skill) return { skill, unused: described?.unused ?? [] };
  throw new CountersignError('cli.broken_skill', brokenSkill(file, diagnostics));
}

/**
 * Writes the package to the skills' folder of the working folder.
 * @returns the folder and its files
 * @throws CountersignError if the folder exists already
 */
export function writePackage(cwd: string, skill: SkillPackage): { folder: string; files: string[] } {
  const folder = join(SKILLS_FOLDER, skill.name);
  if (existsSync(resolve(cwd, folder))) throw new CountersignError('cli.skill_exists', skillExists(folder));
  refuseLinks(cwd, folder);
  const files = filesOf(skill).map(({ path, text }) => ({ file: join(folder, path), text }));
  for (const { file, text } of files) {
    mkdirSync(dirname(resolve(cwd, file)), { recursive: true });
    writeNew(cwd, file, text);
  }
  return { folder, files: files.map(({ file }) => file) };
}

/**
 * A symbolic link could lead out of the repository. The store's `safeJoin` is not used here, because it
 * follows links that stay inside.
 */
function refuseLinks(cwd: string, folder: string): void {
  const parts = folder.split(sep);
  for (const end of parts.keys()) {
    const path = join(...parts.slice(0, end + 1));
    const kind = lstatSync(resolve(cwd, path), { throwIfNoEntry: false });
    if (kind?.isSymbolicLink())
      throw new CountersignError('cli.cannot_write', cannotWrite(folder, `${path} is a symbolic link`));
  }
}

/**
 * The packages that a path refers to: one package, given by its folder or any file in it (people name the
 * file that they are editing); those of a repository; or those in a folder.
 */
function expand(cwd: string, path: string): ParsedPackage[] {
  const at = resolve(cwd, path);
  const found = statSync(at, { throwIfNoEntry: false });
  if (!found) throw new CountersignError('cli.no_such_file', noSuchPath(path));
  const folder = packageAround(cwd, found.isDirectory() ? path : dirname(path));
  if (folder !== undefined) return [readPackage(cwd, folder)];
  if (found.isFile()) return [readJson(cwd, path)];
  const isRepository = ['.github', ORGANISATION_SKILLS].some((one) => existsSync(join(at, one)));
  return isRepository ? ofRepository(cwd, path) : packagesIn(cwd, path);
}

/** The repository's own skills and, in an organisation's `.github` repository, the organisation's. */
function ofRepository(cwd: string, path: string): ParsedPackage[] {
  return [SKILLS_FOLDER, ORGANISATION_SKILLS].flatMap((folder) => packagesIn(cwd, join(path, folder)));
}

function packageAround(cwd: string, folder: string): string | undefined {
  const isPackage = (one: string) => existsSync(resolve(cwd, one, SKILL_FILE));
  if (isPackage(folder)) return folder;
  const above = join(folder, '..');
  return PACKAGE_FOLDERS.includes(basename(resolve(cwd, folder))) && isPackage(above) ? above : undefined;
}

function packagesIn(cwd: string, root: string): ParsedPackage[] {
  const at = resolve(cwd, root);
  if (!existsSync(at)) return [];
  return readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => readPackage(cwd, join(root, name)));
}

function readPackage(cwd: string, folder: string): ParsedPackage {
  const at = resolve(cwd, folder);
  const files: PackageFile[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of readdirSync(at, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = name.split(sep).join('/');
    const refuse = (message: string) =>
      diagnostics.push({ file: `${folder}/${path}`, line: 1, column: 1, message });
    const kind = lstatSync(join(at, name));
    if (kind.isDirectory()) continue;
    if (!kind.isFile()) refuse('this is a symbolic link, and those are not followed');
    else if (kind.size > MAX_FILE_BYTES) refuse(tooLarge);
    else files.push({ path, text: readText(cwd, join(folder, name)) });
  }
  const parsed = parsePackage(files, folder, nameOf(cwd, folder));
  return diagnostics.length === 0
    ? parsed
    : { ...parsed, skill: undefined, diagnostics: [...parsed.diagnostics, ...diagnostics] };
}

/** The name of the package's folder, also if the path is a dot. */
function nameOf(cwd: string, folder: string): string {
  return basename(resolve(cwd, folder));
}

function readJson(cwd: string, file: string): ParsedPackage {
  return packageFromJson(readText(cwd, file), file);
}
