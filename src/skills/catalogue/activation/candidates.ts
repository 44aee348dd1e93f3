import { LRUCache } from 'lru-cache';
import type { SkillDescription } from '../../../domain/skill/package.ts';
import { describedIn } from '../../../domain/skill/parse.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import type { SkillOutline } from '../../../ports/skill-traces.ts';
import type { Skills } from '../../../ports/storage.ts';
import { type PreparedSkill, prepareSkill } from '../match.ts';

/** A skill that can be chosen. */
export interface Candidate {
  outline: SkillOutline;
  described: SkillDescription;
  /** The paths of its executable artifacts, in order. */
  artifacts: string[];
  prepared: PreparedSkill;
}

/**
 * The number of packages whose metadata stays cached: ten times what a repository and its organisation can
 * have.
 */
const MAX_KEPT = 1_000;

/**
 * Reads candidates by their ids, only the SKILL.md of each; the chosen one is read completely. An id is a
 * hash of the content, so prepared data can be cached forever. Preparing it for every question took three
 * times as long as matching.
 */
export function createCandidates({
  skills,
  kinds,
  mostKept = MAX_KEPT,
}: {
  skills: Pick<Skills, 'outlines'>;
  /** The executable kinds of artifacts. A skill without any of them could not run. */
  kinds: readonly SkillArtifact['kind'][];
  mostKept?: number;
}): (ids: readonly string[]) => Promise<Candidate[]> {
  const kept = new LRUCache<string, Candidate | 'unusable'>({ max: mostKept });

  return async (ids) => {
    const known = new Map(ids.map((id) => [id, kept.get(id)]));
    const unknown = ids.filter((id) => known.get(id) === undefined);
    for (const outline of unknown.length === 0 ? [] : await skills.outlines(unknown)) {
      const made = candidateOf(outline, kinds) ?? 'unusable';
      known.set(outline.id, made);
      kept.set(outline.id, made);
    }
    return [...known.values()].filter((one) => one !== undefined && one !== 'unusable');
  };
}

/** A candidate must produce an outcome and have an executable artifact. */
function candidateOf(outline: SkillOutline, kinds: readonly SkillArtifact['kind'][]): Candidate | undefined {
  const described = describedIn(outline.description);
  const executable = outline.artifacts.filter(({ kind }) => kinds.includes(kind)).map(pathOf);
  const artifacts = described?.sequence[0] === undefined ? executable : described.sequence.slice(0, 1);
  if (described === undefined || described.outcome === null || artifacts.length === 0) return undefined;
  if (described.name !== outline.name) return undefined;
  return { outline, described, artifacts, prepared: prepareSkill(described) };
}
