import { shortHash } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/fault.ts';
import { type Contract, resolve } from '../artifact/contract.ts';
import type { PackageReference } from '../chain/chain.ts';
import type { Slot } from '../expression/state-slot.ts';
import type { TrustLevel } from '../policy/trust.ts';
import type { SkillOutcome } from './manifest.ts';
import { isTestFile, pathOf } from './place.ts';
import type { SkillArtifact } from './skill.ts';

/** One file of a package, by its path in the package's folder, such as `prompts/review.md`. */
export interface PackageFile {
  path: string;
  text: string;
}

/** What a skill's SKILL.md says of it. */
export interface SkillDescription {
  name: string;
  description: string;
  version: string | null;
  author: string | null;
  tags: string[];
  intentPatterns: string[];
  triggerPhrases: string[];
  paths: string[];
  /** `null`: it is only for reading, and no step can run it. */
  outcome: SkillOutcome | null;
  artifactDefaults: Contract['expected'];
  cognitiveHints: { produces: Slot[] };
}

/** A skill as content. */
export interface SkillPackage extends SkillDescription {
  /** Of its content: a package with the same id does the same, since it has the same files but for its tests. */
  id: string;
  /** The least that a run needs for it: what its SKILL.md and the kinds of its files ask for. */
  trust: TrustLevel;
  /** By ordinal, the SKILL.md first among them. */
  artifacts: SkillArtifact[];
  /** Cases for `skill test`, by path. */
  tests: PackageFile[];
}

/** A folder as read: its package, or everything that is wrong in it. It is called by its folder's name either way. */
export interface ParsedPackage {
  folder: string;
  name: string;
  skill?: SkillPackage | undefined;
  diagnostics: Diagnostic[];
}

/** The files that the package is, and that give it again when they are parsed. */
export function filesOf({
  artifacts,
  tests = [],
}: Pick<SkillPackage, 'artifacts'> & Partial<Pick<SkillPackage, 'tests'>>): PackageFile[] {
  return [...artifacts.map((artifact) => ({ path: pathOf(artifact), text: artifact.content })), ...tests];
}

/** Names a package by its content. Its tests are left out: they are not stored, and another case changes nothing that it does. */
export function packageId(name: string, files: readonly PackageFile[]): string {
  const executable = files.filter(({ path }) => !isTestFile(path));
  const sorted = executable.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return `skl_${shortHash({ name, files: sorted }, 32)}`;
}

/** The packages that no step can run; what is built in is carried out whatever its own package says. */
export function withoutOutcome(packages: readonly SkillPackage[], builtIn: readonly string[]): string[] {
  return packages
    .filter(({ name, outcome }) => outcome === null && !builtIn.includes(name))
    .map(({ name }) => name);
}

/** What a step that runs the package must leave behind, as far as the package says so. */
export function contractOf({ outcome, artifactDefaults }: SkillPackage): Contract['expected'] {
  const own: Contract['expected'] =
    outcome === null ? [] : [{ kind: 'outcome', id: 'outcome', outcome, required: true, source: 'skill' }];
  return resolve(own, artifactDefaults).expected;
}

/** What a run's definition keeps of the package; its files are kept by the id. */
export function referenceTo({ id, trust, cognitiveHints }: SkillPackage): PackageReference {
  return { id, trust, produces: cognitiveHints.produces };
}
