import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../../../core/canonical.ts';

/** How much of what was expected came out, from 0 to 1. What nobody expected anything of does not count. */
export function score(expected: { [name: string]: Json }, said: Readonly<Record<string, unknown>>): number {
  const names = Object.keys(expected);
  const right = names.filter((name) => isDeepStrictEqual(expected[name], said[name]));
  return names.length === 0 ? 0 : right.length / names.length;
}
