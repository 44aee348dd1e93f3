import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import type { SkillPackage } from '../../../domain/skill/package.ts';
import type { AdoptedSkill, Storage, Tx } from '../../../ports/storage.ts';
import { toStored } from '../keep.ts';
import { admit, type SyncStatus, syncAction } from './admit.ts';
import { download } from './download.ts';
import { type IndexEntry, MAX_INDEX_BYTES, readIndex } from './skill-index.ts';

/** What a sync did with one package. */
interface SyncedSkill {
  name: string;
  /** The version in force now. */
  version: string | null;
  status: 'new' | 'updated' | 'unchanged' | 'refused' | 'not_listed' | 'removed';
  /** Every reason for a refusal. */
  because: string[];
}

export interface SyncReport {
  index: string;
  /** `unusable`: the installed packages stay in force, and `because` says what is wrong with the index. */
  state: 'read' | 'unchanged' | 'unusable';
  because: string | null;
  skills: SyncedSkill[];
}

export interface SyncDeps {
  storage: Storage;
  clock: Clock;
  /** Names of built-in and shipped skills. */
  reserved: readonly string[];
}

export interface SyncOptions {
  force: boolean;
  /** Removes packages that the index no longer lists. */
  prune: boolean;
  signal: AbortSignal;
}

const cursorSchema = z.object({ etag: z.string().nullable() });

/**
 * Installs the packages of an index for the whole account. Each package has its own transaction and is
 * installed completely or not at all. An error in one does not affect the others. An unreadable index changes
 * nothing.
 */
export async function syncSkills(
  index: URL,
  { storage, clock, reserved }: SyncDeps,
  { force, prune, signal }: SyncOptions,
): Promise<SyncReport> {
  const { href } = index;
  const before = await storage.read.skills.adopted();
  const installed = before.filter(({ marketplaceId }) => marketplaceId === href);
  const report = (state: SyncReport['state'], skills: SyncedSkill[], because: string | null = null) => ({
    index: href,
    state,
    because,
    skills: skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  });
  const asBefore = installed.map((skill) => synced(skill, 'unchanged'));

  const etag = force || prune ? undefined : await etagOf(storage, href);
  const read = await download(index, { maxBytes: MAX_INDEX_BYTES, signal, etag });
  if (read.kind === 'failed') return report('unusable', asBefore, read.because);
  if (read.kind === 'unchanged') return report('unchanged', asBefore);
  const listed = readIndex(new TextDecoder().decode(read.bytes), index);
  if ('because' in listed) return report('unusable', asBefore, listed.because);

  const skills: SyncedSkill[] = listed.refused.map(({ name, because }) => {
    const version = before.find((one) => one.name === name)?.version ?? null;
    return { name, version, status: 'refused', because: [because] };
  });
  for (const entry of listed.entries) skills.push(await take(entry));
  for (const skill of installed.filter(({ name }) => !skills.some((one) => one.name === name))) {
    if (prune) await storage.transaction((tx) => tx.skills.withdraw(skill.id));
    skills.push(synced(skill, prune ? 'removed' : 'not_listed'));
  }
  // After a refusal, the etag is dropped, so that the next sync reads the index again and reports the problem
  // or finds it fixed.
  const isComplete = skills.every(({ status }) => status !== 'refused');
  await storage.transaction((tx) => keepEtag(tx, href, isComplete ? read.etag : null));
  return report('read', skills);

  async function take(entry: IndexEntry): Promise<SyncedSkill> {
    const { name, version } = entry;
    const current = before.find((one) => one.name === name);
    const status: SyncStatus = { index: href, current, reserved, force };
    const refused = (because: string[]): SyncedSkill => ({
      name,
      version: current?.version ?? null,
      status: 'refused',
      because,
    });
    const want = syncAction(entry, status);
    if (want.kind === 'refused') return refused([want.because]);
    if (want.kind === 'unchanged') return { name, version, status: 'unchanged', because: [] };
    const got = await download(entry.url, { maxBytes: entry.size, signal });
    if (got.kind !== 'body') return refused([got.kind === 'failed' ? got.because : 'it did not come']);
    const admitted = admit(entry, got.bytes);
    if ('because' in admitted) return refused(admitted.because);
    await storage.transaction((tx) => adopt(tx, admitted.skill, entry, current));
    return { name, version, status: current ? 'updated' : 'new', because: [] };
  }

  async function adopt(
    tx: Tx,
    skill: SkillPackage,
    { sha256 }: IndexEntry,
    current: AdoptedSkill | undefined,
  ): Promise<void> {
    const stored = toStored({ skill, scope: 'community' }, clock.now());
    await tx.skills.adopt({ ...stored, marketplaceId: href, syncEtag: sha256 });
    // Otherwise the index that lost this name would look unchanged at its next sync.
    if (current && current.marketplaceId !== href) await keepEtag(tx, current.marketplaceId, null);
  }

  function keepEtag(tx: Tx, of: string, etag: string | null): Promise<void> {
    return tx.cursors.set(cursorOf(of), { etag }, clock.now());
  }
}

async function etagOf(storage: Storage, index: string): Promise<string | undefined> {
  const kept = cursorSchema.safeParse(await storage.read.cursors.get(cursorOf(index)));
  return kept.data?.etag ?? undefined;
}

const cursorOf = (index: string) => `skill_index:${index}`;

function synced({ name, version }: AdoptedSkill, status: SyncedSkill['status']): SyncedSkill {
  return { name, version, status, because: [] };
}
