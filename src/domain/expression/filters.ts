import { type Budget, isEqual, isNothing, member, toText } from './value.ts';

export interface ExpressionFilter {
  /** How many arguments it takes besides the value that it is applied to. */
  readonly args: { readonly min: number; readonly max: number };
  /**
   * `undefined` for values that the filter does not support. A default such as 0 could make a condition true
   * by accident.
   */
  apply(value: unknown, args: readonly unknown[], budget: Budget): unknown;
}

const NONE = { min: 0, max: 0 };
const OPTIONAL = { min: 0, max: 1 };

/** A Map and not an object, so that `x|constructor` finds nothing. */
export const EXPRESSION_FILTERS: ReadonlyMap<string, ExpressionFilter> = new Map<string, ExpressionFilter>([
  ['length', { args: NONE, apply: (value) => lengthOf(value) }],
  ['lower', { args: NONE, apply: (value, _, budget) => ofText(value, budget, (text) => text.toLowerCase()) }],
  ['upper', { args: NONE, apply: (value, _, budget) => ofText(value, budget, (text) => text.toUpperCase()) }],
  ['trim', { args: NONE, apply: (value, _, budget) => ofText(value, budget, (text) => text.trim()) }],
  [
    'default',
    { args: { min: 1, max: 1 }, apply: (value, [fallback]) => (isNothing(value) ? fallback : value) },
  ],
  ['join', { args: OPTIONAL, apply: (value, [separator = ''], budget) => join(value, separator, budget) }],
  ['first', { args: NONE, apply: (value) => at(value, 0) }],
  ['last', { args: NONE, apply: (value) => at(value, -1) }],
  ['int', { args: OPTIONAL, apply: (value, [fallback]) => toInteger(value) ?? fallback }],
  [
    'string',
    { args: NONE, apply: (value, _, budget) => (isNothing(value) ? undefined : toText(value, budget)) },
  ],
  [
    'replace',
    { args: { min: 2, max: 2 }, apply: (value, [from, to], budget) => replace(value, from, to, budget) },
  ],
  ['round', { args: OPTIONAL, apply: (value, [digits = 0]) => round(value, digits) }],
  ['abs', { args: NONE, apply: (value) => (typeof value === 'number' ? Math.abs(value) : undefined) }],
]);

function lengthOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined;
}

function ofText(value: unknown, budget: Budget, change: (text: string) => string): string | undefined {
  if (typeof value !== 'string') return undefined;
  budget.spendText(value.length);
  const changed = change(value);
  budget.spendText(changed.length);
  return changed;
}

function join(value: unknown, separator: unknown, budget: Budget): string | undefined {
  if (!Array.isArray(value) || typeof separator !== 'string') return undefined;
  budget.visit(value.length);
  budget.spendText(separator.length * Math.max(value.length - 1, 0));
  let joined = '';
  for (let index = 0; index < value.length; index++) {
    if (index > 0) joined += separator;
    joined += toText(member(value, index), budget);
  }
  budget.spendText(joined.length);
  return joined;
}

function at(value: unknown, index: 0 | -1): unknown {
  if (typeof value === 'string') return value.at(index);
  return Array.isArray(value) ? member(value, index === 0 ? 0 : value.length - 1) : undefined;
}

function toInteger(value: unknown): number | undefined {
  if (typeof value === 'number') return Math.trunc(value);
  return typeof value === 'string' && /^\s*[-+]?\d{1,15}\s*$/.test(value) ? Number(value) : undefined;
}

function replace(value: unknown, from: unknown, to: unknown, budget: Budget): string | undefined {
  if (typeof value !== 'string' || typeof from !== 'string' || typeof to !== 'string' || from === '') {
    return undefined;
  }
  budget.spendText(value.length);
  const parts = value.split(from);
  budget.spendText(value.length + (parts.length - 1) * (to.length - from.length));
  return parts.join(to);
}

function round(value: unknown, digits: unknown): number | undefined {
  if (typeof value !== 'number' || typeof digits !== 'number') return undefined;
  if (!Number.isInteger(digits) || digits < 0 || digits > 10) return undefined;
  return Number(value.toFixed(digits));
}

/**
 * `needle in haystack`: part of a string, an entry of a list, a key of a mapping. `undefined` for other
 * values.
 */
export function contains(haystack: unknown, needle: unknown, budget: Budget): boolean | undefined {
  if (typeof haystack === 'string') {
    if (typeof needle !== 'string') return undefined;
    budget.spendText(haystack.length);
    return haystack.includes(needle);
  }
  if (Array.isArray(haystack)) {
    return haystack.some((_, index) => isEqual(member(haystack, index), needle, budget));
  }
  if (typeof haystack !== 'object' || haystack === null || typeof needle !== 'string') return undefined;
  return Object.hasOwn(haystack, needle);
}
