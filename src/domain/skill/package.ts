import { type Json, shortHash } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { type Contract, resolve } from '../artifact/contract.ts';
import type { PackageReference } from '../chain/chain.ts';
import type { Slot } from '../expression/state-slot.ts';
import { highestOf } from '../policy/capability.ts';
import type { TrustLevel } from '../policy/trust.ts';
import type { SkillOutcome } from './manifest.ts';
import { isTestFile, pathOf } from './place.ts';
import type { SkillArtifact } from './skill.ts';

/** One file of a package, by its path in the package's folder, such as `prompts/review.md`. */
export interface PackageFile {
  path: string;
  text: string;
}

/** The data of a SKILL.md. */
export interface SkillDescription {
  name: string;
  description: string;
  version: string | null;
  author: string | null;
  tags: string[];
  intentPatterns: string[];
  triggerPhrases: string[];
  paths: string[];
  /** `null`: the skill is only for readers, and no step can run it. */
  outcome: SkillOutcome | null;
  /** The JSON Schema of the data of a kind of its own. */
  outcomeSchema: { [key: string]: Json } | null;
  artifactDefaults: Contract['expected'];
  cognitiveHints: { produces: Slot[] };
  /** The paths of the files that a step executes one after another. Empty: it executes the first file. */
  sequence: string[];
  /** The names of the skills that its programs may run. */
  uses: string[];
}

/** A skill with the content of its files. */
export interface SkillPackage extends SkillDescription {
  /**
   * Derived from the content. Packages with the same id have the same files, except tests, and so behave the
   * same.
   */
  id: string;
  /** The lowest trust level with which a run can use it, from its SKILL.md and the kinds of its files. */
  trust: TrustLevel;
  /** By ordinal; the SKILL.md is first. */
  artifacts: SkillArtifact[];
  /** Cases for `skill test`, by path. */
  tests: PackageFile[];
}

/** A folder after reading: its package, or its diagnostics. Either way it has the folder's name. */
export interface ParsedPackage {
  folder: string;
  name: string;
  skill?: SkillPackage | undefined;
  diagnostics: Diagnostic[];
}

/** The files of the package. Parsing them gives an equal package. */
export function filesOf({
  artifacts,
  tests = [],
}: Pick<SkillPackage, 'artifacts'> & Partial<Pick<SkillPackage, 'tests'>>): PackageFile[] {
  return [...artifacts.map((artifact) => ({ path: pathOf(artifact), text: artifact.content })), ...tests];
}

/**
 * The id of a package, from its content. Tests do not count: they are not stored, and do not change what the
 * package does.
 */
export function packageId(name: string, files: readonly PackageFile[]): string {
  const executable = files.filter(({ path }) => !isTestFile(path));
  const sorted = executable.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return `skl_${shortHash({ name, files: sorted }, 32)}`;
}

/** The packages that no step can run. Built-in skills run whatever their package says. */
export function withoutOutcome(packages: readonly SkillPackage[], builtIn: readonly string[]): string[] {
  return packages
    .filter(({ name, outcome }) => outcome === null && !builtIn.includes(name))
    .map(({ name }) => name);
}

/** The kind of outcome of each package that a step can run, by its name. */
export function outcomesOf(packages: readonly SkillPackage[]): Record<string, SkillOutcome> {
  return Object.fromEntries(
    packages.flatMap(({ name, outcome }) => (outcome === null ? [] : [[name, outcome]])),
  );
}

/** The JSON Schema of the data of each package with an outcome of its own kind, by its name. */
export function outcomeDataOf(
  packages: readonly SkillPackage[],
): Record<string, NonNullable<SkillPackage['outcomeSchema']>> {
  return Object.fromEntries(
    packages.flatMap(({ name, outcomeSchema }) => (outcomeSchema === null ? [] : [[name, outcomeSchema]])),
  );
}

/** The contract of a step that runs the package, as far as the package declares it. */
export function contractOf({ outcome, artifactDefaults }: SkillPackage): Contract['expected'] {
  const outcomeEntry: Contract['expected'] =
    outcome === null ? [] : [{ kind: 'outcome', id: 'outcome', outcome, required: true, source: 'skill' }];
  return resolve(outcomeEntry, artifactDefaults).expected;
}

/** The packages that programs of this package can run, directly or through each other. */
export function usedBy(skill: SkillPackage, all: readonly SkillPackage[]): SkillPackage[] {
  const found = new Map<string, SkillPackage>();
  const add = ({ uses }: SkillPackage) => {
    for (const name of uses) {
      const used = all.find((one) => one.name === name);
      if (!used || found.has(name)) continue;
      found.set(name, used);
      add(used);
    }
  };
  add(skill);
  return [...found.values()];
}

/**
 * The part of the package that a run's definition stores. The files are stored under the id. It requires the
 * trust of every package that it can run, so that running it through another package gains nothing.
 * @param used from `usedBy`
 */
export function referenceTo(
  { id, trust, cognitiveHints }: SkillPackage,
  used: readonly SkillPackage[],
): PackageReference {
  return {
    id,
    trust: highestOf([trust, ...used.map((one) => one.trust)]),
    produces: cognitiveHints.produces,
    ...(used.length === 0 ? {} : { uses: Object.fromEntries(used.map((one) => [one.name, one.id])) }),
  };
}
