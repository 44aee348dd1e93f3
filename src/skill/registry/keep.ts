import type { Clock } from '../../core/clock.ts';
import type { Storage, StoredSkill } from '../../storage/storage.ts';
import { pathOf } from '../package/place.ts';
import type { SkillInForce } from './scope.ts';

/**
 * Stores packages that runs are to begin with. Each is written once a process: they never change, and the configuration that
 * names them is read with every event.
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

function toStored({ skill, scope }: SkillInForce, now: Date): StoredSkill {
  const { id, name, description, version, tags, author, intentPatterns, triggerPhrases, artifacts } = skill;
  return {
    id,
    name,
    description,
    version,
    tags,
    source: scope === 'shipped' ? 'system' : 'user',
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
