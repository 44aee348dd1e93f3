import type { Diagnostic } from '../../core/diagnostic.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import { PLACES, SKILL_FILE } from '../../domain/skill/place.ts';

const WAYS = PLACES.filter((place) => place !== SKILL_FILE && !place.startsWith('tests/'));

/**
 * That a package says what it comes to, and has no file that says how: every step that asks it fails. Told by lint alone, since a
 * package grows file by file, and what is told when it is read keeps all chains that name it from running.
 */
export function missingWay({ outcome, artifacts }: SkillPackage, folder: string): Diagnostic[] {
  if (outcome === null || artifacts.some(({ kind }) => kind !== 'description')) return [];
  const message = `no file of the package says how it comes to a ${outcome}; add one of ${WAYS.join(', ')}`;
  return [{ file: `${folder}/${SKILL_FILE}`, line: 1, column: 1, message }];
}
