import type { Clock } from '../../core/clock.ts';
import { pathOf } from '../../domain/skill/place.ts';
import type { SkillInForce, SkillScope } from '../../domain/skill/scope.ts';
import type { SkillSource, Storage, StoredSkill } from '../../ports/storage.ts';

const SOURCES: Readonly<Record<SkillScope, SkillSource>> = {
  workspace: 'user',
  organisation: 'user',
  shipped: 'system',
  community: 'community',
};

/**
 * Stores packages that runs are about to use. Each is written once per process: packages never change, and
 * the configuration that names them is read with every event.
 */
export function createSkillKeeper(deps: {
  storage: Storage;
  clock: Clock;
}): (skill: SkillInForce) => Promise<void> {
  const kept = new Set<string>();
  return async (found) => {
    const { id } = found.skill;
    if (kept.has(id)) return;
    await deps.storage.transaction((tx) => tx.skills.keep(toStored(found, deps.clock.now())));
    kept.add(id);
  };
}

/** A package as it is stored. A package of an index takes effect only once it is adopted. */
export function toStored({ skill, scope }: Pick<SkillInForce, 'skill' | 'scope'>, now: Date): StoredSkill {
  const { id, name, description, version, tags, author, intentPatterns, triggerPhrases, artifacts } = skill;
  return {
    id,
    name,
    description,
    version,
    tags,
    source: SOURCES[scope],
    author,
    intentPatterns,
    triggerPhrases,
    marketplaceId: null,
    syncEtag: null,
    createdAt: now,
    updatedAt: now,
    artifacts: artifacts.map((artifact) => ({ ...artifact, id: `${id}/${pathOf(artifact)}`, state: null })),
  };
}
