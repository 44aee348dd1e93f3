import type { Diagnostic } from '../../core/diagnostic.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { PLACES, SKILL_FILE } from '../../domain/skill/place.ts';

const ARTIFACT_PATHS = PLACES.filter((place) => place !== SKILL_FILE && !place.startsWith('tests/'));

/**
 * A package that declares an outcome but has no file that produces it: every step with it fails. Only lint
 * reports this, because a package grows file by file, and an error found while reading it would stop all
 * chains that name it.
 */
export function missingArtifact({ outcome, artifacts }: SkillPackage, folder: string): Diagnostic[] {
  if (outcome === null || artifacts.some(({ kind }) => kind !== 'description')) return [];
  const message = `no file of the package says how it comes to a ${outcome}; add one of ${ARTIFACT_PATHS.join(', ')}`;
  return [{ file: `${folder}/${SKILL_FILE}`, line: 1, column: 1, message }];
}
