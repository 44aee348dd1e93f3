import type { ParsedPackage } from '../../domain/skill/package.ts';
import { skillTable } from '../../messages/cli/skill.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { localSkills } from './skill-files.ts';

/** The packages of indexes, and the newer version of each, as far as the last check of its index knows. */
interface OfIndexes {
  packages: readonly ParsedPackage[];
  available: ReadonlyMap<string, string>;
}

export async function skillList({ cwd, tools }: Context, { database }: DatabaseOption): Promise<Output> {
  const { packages, available } = await ofIndexes(tools, database);
  const { skills, broken } = localSkills(cwd, await tools.skills(), packages);
  const availableFor = (name: string, scope: string) =>
    scope === 'community' ? (available.get(name) ?? null) : null;
  const sound = skills.map(({ skill, scope, folder }) => ({
    name: skill.name,
    scope,
    folder,
    ok: true,
    version: skill.version,
    available: availableFor(skill.name, scope),
    description: skill.description,
    outcome: skill.outcome,
    kinds: [...new Set(skill.artifacts.map(({ kind }) => kind))],
    diagnostics: [],
  }));
  const faulty = broken.map(({ name, scope, folder, diagnostics }) => ({
    name,
    scope,
    folder,
    ok: false,
    version: null,
    available: availableFor(name, scope),
    description: null,
    outcome: null,
    kinds: [],
    diagnostics,
  }));
  const all = [...sound, ...faulty].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return {
    text: (screen) => skillTable(all, screen),
    json: all.map(({ diagnostics, ...one }) => ({ ...one, faults: diagnostics })),
  };
}

/** A checkout has no database, and its skills can be listed all the same. */
async function ofIndexes(tools: Context['tools'], database: string | undefined): Promise<OfIndexes> {
  if (database === undefined && !(await tools.hasDatabase())) return { packages: [], available: new Map() };
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const [{ communitySkills }, { availableVersions }] = await Promise.all([
      import('../../skills/catalogue/sync/community.ts'),
      import('../../skills/catalogue/sync/check.ts'),
    ]);
    const packages = await communitySkills(read.skills)();
    return { packages, available: await availableVersions(read, await read.skills.adopted()) };
  });
}
