import { type Contract, resolve } from '../../artifact/contract.ts';
import { contentHash } from '../../core/canonical.ts';
import type { Fault } from '../../core/fault.ts';
import type { Manifest, SkillOutcome } from './manifest.ts';
import { pathOf } from './place.ts';
import type { SkillArtifact } from './skill.ts';

/** One file of a package, by its path in the package's folder, such as `prompts/review.md`. */
export interface PackageFile {
  path: string;
  text: string;
}

/** A skill as content: what its SKILL.md says of it, and its artifacts by ordinal, that file first among them. */
export interface SkillPackage {
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
  trust: NonNullable<Manifest['trust']>;
  artifactDefaults: Contract['expected'];
  cognitiveHints: { produces: string[] };
  artifacts: SkillArtifact[];
}

/** A folder as read: its package, or everything that is wrong in it. It is called by its folder's name either way. */
export interface ParsedPackage {
  folder: string;
  name: string;
  skill?: SkillPackage | undefined;
  faults: Fault[];
}

/** The files that the package is, and that give it again when they are parsed. */
export function filesOf({ artifacts }: Pick<SkillPackage, 'artifacts'>): PackageFile[] {
  return artifacts.map((artifact) => ({ path: pathOf(artifact), text: artifact.content }));
}

/** Names a package by its content: a package with the same id has the same files, whatever it is called elsewhere. */
export function packageId(skill: SkillPackage): string {
  const files = filesOf(skill).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return `skl_${contentHash({ name: skill.name, files }).slice('sha256:'.length, 'sha256:'.length + 32)}`;
}

/** What a step that runs the package must leave behind, as far as the package says so. */
export function contractOf({ outcome, artifactDefaults }: SkillPackage): Contract['expected'] {
  const own: Contract['expected'] =
    outcome === null ? [] : [{ kind: 'outcome', id: 'outcome', outcome, required: true, source: 'skill' }];
  return resolve(own, artifactDefaults).expected;
}
