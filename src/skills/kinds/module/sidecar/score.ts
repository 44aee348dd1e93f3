import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../../../core/canonical.ts';

/** The share of the expected values that were right, from 0 to 1. Other values do not count. */
export function score(expected: { [name: string]: Json }, actual: Readonly<Record<string, unknown>>): number {
  const names = Object.keys(expected);
  const right = names.filter((name) => isDeepStrictEqual(expected[name], actual[name]));
  return names.length === 0 ? 0 : right.length / names.length;
}
