import type { Diagnostic } from '../../core/fault.ts';
import { AUTO_SKILL } from '../chain/chain.ts';
import type { ParsedPackage, SkillPackage } from './package.ts';

/**
 * Where packages come from, the nearest first: the repository's own, and those of the account, which are its organisation's,
 * the shipped ones, and those that the operator took from an index. The last are the farthest, since they are strangers': a new
 * version of Countersign may bring a skill of the same name, and its chains mean that one.
 */
export const SKILL_SCOPES = ['workspace', 'organisation', 'shipped', 'community'] as const;
export type SkillScope = (typeof SKILL_SCOPES)[number];

export interface SkillInForce {
  skill: SkillPackage;
  scope: SkillScope;
  folder: string;
}

/** A name under which no package is in force, because the nearest folder for it has faults. */
export interface BrokenSkill {
  name: string;
  scope: SkillScope;
  folder: string;
  diagnostics: Diagnostic[];
}

/**
 * The packages in force, by name: the nearest scope wins. As with chains, a broken package takes its name out of force: whoever
 * overrode another did so for a reason.
 *
 * Only what ships may have the name of a skill that is built in. A chain that says `skill: pr-review` asks for the review that
 * Countersign answers for; a folder that took its place would turn the security review of every such chain into its own, and
 * nothing in the chain would show it. A review of one's own has a name of its own, and a chain that names it.
 */
export function resolveSkills(
  scopes: Readonly<Partial<Record<SkillScope, readonly ParsedPackage[]>>>,
  builtIn: readonly string[],
): { skills: SkillInForce[]; broken: BrokenSkill[] } {
  const skills: SkillInForce[] = [];
  const broken: BrokenSkill[] = [];
  const taken = new Set<string>();
  for (const scope of SKILL_SCOPES) {
    for (const { name, folder, skill, diagnostics } of scopes[scope] ?? []) {
      if (taken.has(name)) continue;
      const reserved = reservedBecause(name, scope, builtIn);
      if (reserved !== undefined) {
        broken.push({
          name,
          scope,
          folder,
          diagnostics: [...diagnostics, reservedDiagnostic(folder, reserved)],
        });
        continue;
      }
      taken.add(name);
      if (skill && diagnostics.length === 0) skills.push({ skill, scope, folder });
      else broken.push({ name, scope, folder, diagnostics });
    }
  }
  return {
    skills: skills.toSorted((a, b) => (a.skill.name < b.skill.name ? -1 : 1)),
    broken: broken.toSorted((a, b) => (a.folder < b.folder ? -1 : 1)),
  };
}

function reservedBecause(name: string, scope: SkillScope, builtIn: readonly string[]): string | undefined {
  if (name === AUTO_SKILL)
    return `"${AUTO_SKILL}" stands for whichever skill fits best, so no skill can be called so`;
  return scope !== 'shipped' && builtIn.includes(name)
    ? `"${name}" is built in, and a package of that name would silently take its place in chains; give it another name`
    : undefined;
}

function reservedDiagnostic(folder: string, message: string): Diagnostic {
  return { file: `${folder}/SKILL.md`, line: 1, column: 1, message };
}
