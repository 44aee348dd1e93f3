import { inject } from 'vitest';
import { HOSTILE_TEXTS, type HostileText } from './texts.ts';

/** Of how many texts one is tried on every page, unless `COUNTERSIGN_LONG=1` asks for all. */
const ONE_OF = 3;

/**
 * The hostile texts that are tried one by one: a third, which the seed of this test run chooses, because each opens dozens of pages.
 * All texts are tried at once in each run, and one by one in the long form.
 */
export function drawnTexts(): readonly (HostileText & { at: number })[] {
  const all = HOSTILE_TEXTS.map((one, at) => ({ ...one, at }));
  if (process.env.COUNTERSIGN_LONG === '1') return all;
  return all.filter(({ at }) => at % ONE_OF === inject('propertySeed') % ONE_OF);
}
