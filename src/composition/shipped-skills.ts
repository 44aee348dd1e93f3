import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { formatDiagnostic } from '../core/diagnostic.ts';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import type { PackageFile, ParsedPackage } from '../domain/skill/package.ts';
import { parseShippedPackage } from '../domain/skill/parse.ts';

/**
 * The skill packages in this package's `skills` folder. `scripts/build.ts` replaces this module by one that reads its
 * result from a file, because to parse them takes a tenth of the time of a short command.
 * @throws Error if one is invalid, which is a bug of ours
 */
export function readShippedSkills(): ParsedPackage[] {
  const root = join(PACKAGE_ROOT, 'skills');
  return readdirSync(root)
    .sort()
    .map((name) => {
      const parsed = parseShippedPackage(filesIn(join(root, name)), `skills/${name}`);
      if (!parsed.skill) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
      return parsed;
    });
}

/** Every file below a folder, as text. */
function filesIn(folder: string): PackageFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(folder, file), text: readFileSync(file, 'utf8') }));
}
