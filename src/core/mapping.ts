import type { Json } from './canonical.ts';

export function isMapping(value: Json | undefined): value is { [key: string]: Json };
export function isMapping(value: unknown): value is object;
export function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of a mapping. `undefined` for inherited members and for values that are not mappings. */
export function memberOf(value: Json | undefined, key: string): Json | undefined;
export function memberOf(value: unknown, key: string): unknown;
export function memberOf(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key as keyof typeof value] : undefined;
}
