import { createHash } from 'node:crypto';
import { formatDiagnostic } from '../../../core/diagnostic.ts';
import { AUTO_SKILL } from '../../../domain/chain/chain.ts';
import { packageFromJson } from '../../../domain/skill/json.ts';
import type { SkillPackage } from '../../../domain/skill/package.ts';
import type { AdoptedSkill } from '../../../ports/storage.ts';
import type { IndexEntry } from './skill-index.ts';
import { compareVersions } from './version.ts';

export interface SyncStatus {
  /** The address of the index. */
  index: string;
  /** What its name stands for at this moment, from whichever index. */
  current: AdoptedSkill | undefined;
  /** Names of what is built in or ships. */
  reserved: readonly string[];
  /** A person has said that an older or a changed package, or one of another index, is meant. */
  force: boolean;
}

export type Wanted = { kind: 'unchanged' } | { kind: 'download' } | { kind: 'refused'; because: string };

/** What is to become of an entry, before anything of it is downloaded. */
export function wanted(entry: IndexEntry, { index, current, reserved, force }: SyncStatus): Wanted {
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
 * The package that was downloaded, when it is what the index says, whole and without faults; or everything that is wrong. What it is
 * called must be told alike in the index, in its document and in its SKILL.md.
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

function refused(because: string): Wanted {
  return { kind: 'refused', because };
}
