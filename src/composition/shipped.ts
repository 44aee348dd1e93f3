import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDiagnostic } from '../core/diagnostic.ts';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import type { KnownNames } from '../domain/chain/known-names.ts';
import { parseChain } from '../domain/chain/parse.ts';
import type { ParsedChain } from '../domain/chain/scope.ts';
import type { ParsedPackage, SkillPackage } from '../domain/skill/package.ts';
import { readShippedSkills } from './shipped-skills.ts';

/** The only shipped chain that runs where no settings name any: the others would surprise those who upgrade. */
const BY_DEFAULT = 'pr-review';

/**
 * The shipped chains, from the package's `chains` folder.
 * @throws Error if one is invalid, which is a bug of ours
 */
export function shippedChains(builtIn: KnownNames): ParsedChain[] {
  const names = { ...builtIn, skills: [...builtIn.skills, ...shippedSkills().map(({ name }) => name)] };
  const folder = join(PACKAGE_ROOT, 'chains');
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => {
      const file = `chains/${name}`;
      const parsed = parseChain(readFileSync(join(folder, name), 'utf8'), file, names);
      if (!parsed.chain) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
      return { file, ...parsed, ...(parsed.chain.name !== BY_DEFAULT && { onlyIfNamed: true as const }) };
    });
}

let skills: readonly ParsedPackage[] | undefined;

/**
 * The shipped skill packages, from the package's `skills` folder. Read once, because only an upgrade changes
 * them and chains are checked against them too.
 * @throws Error if one is invalid, which is a bug of ours
 */
export function shippedSkills(): readonly ParsedPackage[] {
  skills ??= readShippedSkills();
  return skills;
}

/**
 * One shipped skill package.
 * @throws Error if there is none of this name, which is a bug of ours
 */
export function shippedSkill(wanted: string): SkillPackage {
  const found = shippedSkills().find(({ name }) => name === wanted);
  if (!found?.skill) throw new Error(`no skill package ${wanted} ships with Countersign`);
  return found.skill;
}
