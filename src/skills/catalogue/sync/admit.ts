import { createHash } from 'node:crypto';
import { formatDiagnostic } from '../../../core/diagnostic.ts';
import { AUTO_SKILL } from '../../../domain/chain/chain.ts';
import { packageFromJson } from '../../../domain/skill/json.ts';
import type { SkillPackage } from '../../../domain/skill/package.ts';
import type { AdoptedSkill } from '../../../ports/storage.ts';
import type { IndexEntry } from './skill-index.ts';

export interface SyncStatus {
  /** The address of the index. */
  index: string;
  /** The package that now has its name, from any index. */
  current: AdoptedSkill | undefined;
  /** Names of built-in and shipped skills. */
  reserved: readonly string[];
  /** A person confirmed that an older or changed package, or one of another index, may be installed. */
  force: boolean;
}

export type SyncAction = { kind: 'unchanged' } | { kind: 'download' } | { kind: 'refused'; because: string };

/** What to do with an entry, before its download. */
export function syncAction(entry: IndexEntry, { index, current, reserved, force }: SyncStatus): SyncAction {
  const { name, version, sha256 } = entry;
  if (name === AUTO_SKILL || reserved.includes(name)) {
    return refused(`"${name}" is Countersign's own, and no package of an index takes its place`);
  }
  if (!current) return { kind: 'download' };
  const isOurs = current.marketplaceId === index;
  if (isOurs && current.syncEtag === sha256) return { kind: 'unchanged' };
  if (force) return { kind: 'download' };
  if (!isOurs) return refused(`the name is taken by a package of ${current.marketplaceId}${ANYWAY}`);
  const order = compareVersions(version, current.version ?? '0.0.0');
  if (order < 0)
    return refused(`version ${version} is older than ${current.version}, which is here${ANYWAY}`);
  if (order === 0)
    return refused(`it is another package than before under the same version ${version}${ANYWAY}`);
  return { kind: 'download' };
}

const ANYWAY = '; --force takes it anyway';

/**
 * The downloaded package if it matches the index and has no errors, or everything that is wrong. Index,
 * document and SKILL.md must agree on its name and version.
 */
export function admit(entry: IndexEntry, bytes: Uint8Array): { skill: SkillPackage } | { because: string[] } {
  const { name, version, sha256, size, url } = entry;
  if (bytes.byteLength !== size) {
    return { because: [`it has ${bytes.byteLength} bytes, and the index says ${size}`] };
  }
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
    return { because: ['its SHA-256 is not the one that the index says'] };
  }
  const { skill, diagnostics } = packageFromJson(new TextDecoder().decode(bytes), url.href);
  if (!skill) return { because: diagnostics.map(formatDiagnostic) };
  if (skill.name !== name) return { because: [`it is called "${skill.name}"`] };
  if (skill.version !== version) {
    return { because: [`its SKILL.md says version ${skill.version ?? 'nothing'}, and the index ${version}`] };
  }
  return { skill };
}

function refused(because: string): SyncAction {
  return { kind: 'refused', because };
}

/**
 * Compares two versions by Semantic Versioning: negative if `a` is older. A pre-release is older than its
 * release. https://semver.org/#spec-item-11
 * @param a a version as in a SKILL.md
 */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [split(a), split(b)];
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  for (const [index, part] of one.pre.entries()) {
    const against = other.pre[index];
    if (against === undefined) return 1;
    const difference = comparePart(part, against);
    if (difference !== 0) return difference;
  }
  return one.pre.length - other.pre.length;
}

function split(version: string): { numbers: number[]; pre: string[] } {
  const dash = version.indexOf('-');
  const release = dash < 0 ? version : version.slice(0, dash);
  return {
    numbers: release.split('.').map(Number),
    pre: dash < 0 ? [] : version.slice(dash + 1).split('.'),
  };
}

/** Numbers are ordered by value and come before words. */
function comparePart(a: string, b: string): number {
  const [one, other] = [a, b].map((part) => (/^\d+$/.test(part) ? Number(part) : undefined));
  if (one !== undefined && other !== undefined) return one - other;
  if (one !== undefined) return -1;
  if (other !== undefined) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
