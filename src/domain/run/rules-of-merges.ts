import { actionOf } from '../policy/capability.ts';
import { type CountersignRules, tightened } from '../policy/countersign-rules.ts';
import type { Run } from './run.ts';

/**
 * The rules of every step that merges, which may ask for particular people; those of the settings without one. A review
 * decides for all of those steps, so an acceptance must satisfy them all.
 */
export function rulesOfMerges({
  definition,
  settings,
}: Pick<Run, 'definition' | 'settings'>): CountersignRules[] {
  const merging = definition.steps.filter(({ uses }) => actionOf(uses)?.merges);
  const { countersign } = settings;
  return merging.length === 0
    ? [countersign]
    : merging.map(({ approval }) => tightened(countersign, approval));
}
