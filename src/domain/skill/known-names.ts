import type { KnownNames } from '../chain/known-names.ts';
import { outcomeDataOf, outcomesOf, type SkillPackage, withoutOutcome } from './package.ts';

/** The names of the program, and those of packages. */
export function knownWith(
  known: KnownNames,
  builtIn: readonly string[],
  packages: readonly SkillPackage[],
  broken: readonly string[] = [],
): KnownNames {
  return {
    ...known,
    builtIn,
    skills: [...new Set([...known.skills, ...packages.map(({ name }) => name)])].sort(),
    outcomes: { ...outcomesOf(packages), ...known.outcomes },
    outcomeData: outcomeDataOf(packages),
    withoutOutcome: withoutOutcome(packages, builtIn),
    broken,
  };
}
