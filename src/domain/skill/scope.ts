import type { Diagnostic } from '../../core/diagnostic.ts';
import { AUTO_SKILL } from '../chain/chain.ts';
import type { ParsedPackage, SkillPackage } from './package.ts';

/**
 * The scopes of packages, nearest first: the repository, its organisation, those shipped, and those that the
 * operator installed from an index. The last have the lowest precedence, because their authors are untrusted:
 * a new version of Countersign may ship a skill with the same name, and its own chains refer to that one.
 */
export const SKILL_SCOPES = ['workspace', 'organisation', 'shipped', 'community'] as const;
export type SkillScope = (typeof SKILL_SCOPES)[number];

export interface SkillInForce {
  skill: SkillPackage;
  scope: SkillScope;
  folder: string;
}

/** A name without a package in force, because the nearest folder with that name has diagnostics. */
export interface BrokenSkill {
  name: string;
  scope: SkillScope;
  folder: string;
  diagnostics: Diagnostic[];
}

/**
 * The packages in force, by name; the nearest scope wins. As for chains, a broken package disables its name,
 * because somebody overrode the other one for a reason.
 *
 * Only shipped packages can have the name of a built-in skill. A chain with `skill: pr-review` expects
 * Countersign's own review. A folder that replaced it would silently replace the security review of every
 * such chain. A repository's own review needs its own name, and a chain that uses it.
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
