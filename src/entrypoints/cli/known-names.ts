import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SKILLS_FOLDER } from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { knownWith } from '../../domain/skill/known-names.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { resolveSkills } from '../../domain/skill/scope.ts';
import type { Tools } from './context.ts';

/**
 * The names that chains can use in repositories like these folders: those of built-in and shipped skills and
 * of each folder's own. Skills of an organisation are unknown here.
 */
export async function namesKnownIn(
  cwd: string,
  folders: readonly string[],
  known: KnownNames,
  tools: Tools,
): Promise<KnownNames & { packages: readonly SkillPackage[] }> {
  const account = await tools.skills();
  const roots = [cwd, ...folders.map((folder) => resolve(cwd, folder))];
  const here = await Promise.all(
    roots.map(async (root) =>
      // What reads and checks packages takes a tenth of the time of the command to load.
      existsSync(join(root, SKILLS_FOLDER))
        ? (await import('./skill-files.ts')).localSkills(root, account)
        : resolveSkills({ shipped: account.shipped }, account.builtIn),
    ),
  );
  const packages = here.flatMap(({ skills }) => skills.map(({ skill }) => skill));
  const broken = here.flatMap(({ broken }) => broken.map(({ name }) => name));
  return { ...knownWith(known, account.builtIn, packages, broken), packages };
}
