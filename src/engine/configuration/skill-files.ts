import type { Diagnostic } from '../../core/diagnostic.ts';
import { MAX_FILE_BYTES, MAX_FILES } from '../../domain/skill/check-files.ts';
import type { PackageFile, ParsedPackage } from '../../domain/skill/package.ts';
import { parsePackage } from '../../domain/skill/parse.ts';
import { tooLarge } from '../../messages/check-run/configuration-check.ts';
import type { TreeEntry } from '../../ports/github.ts';

/** Packages per repository. Each of their files costs a request. */
const MAX_SKILLS = 50;
/** For all their files together, in bytes. */
const MAX_BYTES = 2_097_152;
const READ_AT_ONCE = 8;

/**
 * Reads the packages in a folder: each of its folders is one.
 * @param entries everything below that folder, with paths from the repository's root
 * @param prefix put before paths that people see
 * @param textOf a file's text; `undefined` if it is too large
 */
export async function readSkills(
  entries: readonly TreeEntry[],
  root: string,
  prefix: string,
  textOf: (entry: TreeEntry) => Promise<string | undefined>,
): Promise<ParsedPackage[]> {
  const inside = entries.filter(({ path }) => path.startsWith(`${root}/`));
  const byName = Map.groupBy(inside, ({ path }) => path.slice(root.length + 1).split('/')[0] ?? '');
  let bytes = 0;
  const packages: ParsedPackage[] = [];
  for (const [name, files] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const folder = `${root}/${name}`;
    // A file beside the folders, such as a README, is not a package.
    if (files.every(({ path }) => path === folder)) continue;
    bytes += files.reduce((sum, { size }) => sum + size, 0);
    packages.push(
      packages.length < MAX_SKILLS && bytes <= MAX_BYTES
        ? await readSkill(files, folder, prefix, textOf)
        : notRead(prefix + folder, name),
    );
  }
  return packages;
}

async function readSkill(
  entries: readonly TreeEntry[],
  folder: string,
  prefix: string,
  textOf: (entry: TreeEntry) => Promise<string | undefined>,
): Promise<ParsedPackage> {
  const files: PackageFile[] = [];
  const diagnostics: Diagnostic[] = [];
  const refuse = (entry: TreeEntry, message: string) =>
    diagnostics.push({ file: prefix + entry.path, line: 1, column: 1, message });
  const read = async (entry: TreeEntry) => {
    if (entry.type !== 'file') return refuse(entry, 'this is a symbolic link, and those are not followed');
    const text = entry.size > MAX_FILE_BYTES ? undefined : await textOf(entry);
    if (text === undefined) refuse(entry, tooLarge);
    else files.push({ path: entry.path.slice(folder.length + 1), text });
  };
  // One more than allowed shows that there are too many.
  const some = entries.slice(0, MAX_FILES + 1);
  for (let at = 0; at < some.length; at += READ_AT_ONCE) {
    await Promise.all(some.slice(at, at + READ_AT_ONCE).map(read));
  }
  const parsed = parsePackage(files, prefix + folder);
  return diagnostics.length === 0
    ? parsed
    : { ...parsed, skill: undefined, diagnostics: [...parsed.diagnostics, ...diagnostics] };
}

function notRead(folder: string, name: string): ParsedPackage {
  const message = `not read: a repository has at most ${MAX_SKILLS} skills, and ${MAX_BYTES / 1_048_576} MB in all their files`;
  return { folder, name, diagnostics: [{ file: `${folder}/SKILL.md`, line: 1, column: 1, message }] };
}
