import { compileGlob } from '../../core/glob.ts';
import { type Budget, isEqual, isNothing, isTruthy, member, toJson, toText } from './value.ts';

export interface ExpressionFilter {
  /** How many arguments it takes besides the value that it is applied to. */
  readonly args: { readonly min: number; readonly max: number };
  /** Arguments that it takes by name, such as `attribute` in `map(attribute='file')`. */
  readonly named?: readonly string[];
  /** Which of its arguments is the name of a test; an attribute comes before the test. */
  readonly testAt?: 0 | 1;
  /**
   * `undefined` for values that the filter does not support. A default such as 0 could make a condition true
   * by accident.
   */
  apply(
    value: unknown,
    args: readonly unknown[],
    budget: Budget,
    named: ReadonlyMap<string, unknown>,
  ): unknown;
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
  ['list', { args: NONE, apply: (value, _, budget) => itemsOf(value, budget) }],
  [
    'map',
    {
      args: NONE,
      named: ['attribute'],
      apply: (value, _, budget, named) => keyedBy(value, budget, named)?.map(({ key }) => key),
    },
  ],
  [
    'selectattr',
    {
      args: { min: 1, max: 3 },
      testAt: 1,
      apply: (value, [attribute, ...test], budget) =>
        pick(value, (item) => attributeOf(item, attribute, budget), test, budget, true),
    },
  ],
  [
    'rejectattr',
    {
      args: { min: 1, max: 3 },
      testAt: 1,
      apply: (value, [attribute, ...test], budget) =>
        pick(value, (item) => attributeOf(item, attribute, budget), test, budget, false),
    },
  ],
  [
    'select',
    {
      args: { min: 0, max: 2 },
      testAt: 0,
      apply: (value, test, budget) => pick(value, itself, test, budget, true),
    },
  ],
  [
    'reject',
    {
      args: { min: 0, max: 2 },
      testAt: 0,
      apply: (value, test, budget) => pick(value, itself, test, budget, false),
    },
  ],
  [
    'sort',
    {
      args: NONE,
      named: ['attribute', 'reverse'],
      apply: (value, _, budget, named) => sort(value, budget, named),
    },
  ],
  [
    'unique',
    { args: NONE, named: ['attribute'], apply: (value, _, budget, named) => unique(value, budget, named) },
  ],
  [
    'sum',
    {
      args: NONE,
      named: ['attribute'],
      apply: (value, _, budget, named) => {
        const keyed = keyedBy(value, budget, named);
        if (!keyed?.every((one): one is Keyed<number> => typeof one.key === 'number')) return undefined;
        return keyed.reduce((sum, { key }) => sum + key, 0);
      },
    },
  ],
  [
    'min',
    {
      args: NONE,
      named: ['attribute'],
      apply: (value, _, budget, named) => ordered(value, budget, named)?.at(0)?.item,
    },
  ],
  [
    'max',
    {
      args: NONE,
      named: ['attribute'],
      apply: (value, _, budget, named) => ordered(value, budget, named)?.at(-1)?.item,
    },
  ],
  ['tojson', { args: NONE, apply: (value, _, budget) => jsonText(value, budget) }],
]);

/** The entries of a list. Copies, so that no filter changes the value of another expression. */
function itemsOf(value: unknown, budget: Budget): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  budget.visit(value.length);
  return Array.from(value.keys(), (index) => member(value, index));
}

/** A member, or one of a member: `range.start`. */
function attributeOf(item: unknown, attribute: unknown, budget: Budget): unknown {
  if (typeof attribute !== 'string') return undefined;
  const path = attribute.split('.');
  budget.visit(path.length);
  return path.reduce((value: unknown, name) => member(value, name), item);
}

interface Keyed<K = unknown> {
  item: unknown;
  key: K;
}

/** Without an `attribute`, each entry is its own key. */
function keyedBy(value: unknown, budget: Budget, named: ReadonlyMap<string, unknown>): Keyed[] | undefined {
  const keyOf = (item: unknown) =>
    named.has('attribute') ? attributeOf(item, named.get('attribute'), budget) : item;
  return itemsOf(value, budget)?.map((item) => ({ item, key: keyOf(item) }));
}

/** Sorted by numbers or by texts; `undefined` for a list that mixes them or has anything else. */
function ordered(value: unknown, budget: Budget, named: ReadonlyMap<string, unknown>): Keyed[] | undefined {
  const keyed = keyedBy(value, budget, named);
  if (keyed === undefined) return undefined;
  budget.visit(Math.ceil(keyed.length * Math.log2(keyed.length + 1)));
  if (keyed.every((one): one is Keyed<number> => typeof one.key === 'number')) {
    return keyed.toSorted((left, right) => left.key - right.key);
  }
  if (keyed.every((one): one is Keyed<string> => typeof one.key === 'string')) {
    return keyed.toSorted((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  }
  return undefined;
}

function sort(value: unknown, budget: Budget, named: ReadonlyMap<string, unknown>): unknown {
  const items = ordered(value, budget, named)?.map(({ item }) => item);
  return named.get('reverse') === true ? items?.reverse() : items;
}

/** Keeps the first entry of each value. */
function unique(value: unknown, budget: Budget, named: ReadonlyMap<string, unknown>): unknown {
  const seen = new Set<string>();
  return keyedBy(value, budget, named)
    ?.filter(({ key }) => {
      const text = jsonText(key, budget);
      const isNew = !seen.has(text);
      seen.add(text);
      return isNew;
    })
    .map(({ item }) => item);
}

/**
 * Entries that pass a test by what `of` gives of them, or those that do not. An entry without the attribute passes
 * no test, so `rejectattr` keeps it: a finding without a severity must not disappear.
 */
function pick(
  value: unknown,
  of: (item: unknown) => unknown,
  test: readonly unknown[],
  budget: Budget,
  wanted: boolean,
): unknown {
  const [name, operand] = test;
  const holds: AttributeTest | undefined = test.length === 0 ? isTruthy : ATTRIBUTE_TESTS.get(name);
  if (holds === undefined) return undefined;
  return itemsOf(value, budget)?.filter((item) => holds(of(item), operand, budget) === wanted);
}

function itself(item: unknown): unknown {
  return item;
}

type AttributeTest = (value: unknown, operand: unknown, budget: Budget) => boolean;

function order(isRight: (left: number | string, right: number | string) => boolean): AttributeTest {
  return (value, operand) =>
    ((typeof value === 'number' && typeof operand === 'number') ||
      (typeof value === 'string' && typeof operand === 'string')) &&
    isRight(value, operand);
}

function ofTexts(isRight: (text: string, part: string) => boolean): AttributeTest {
  return (value, operand, budget) => {
    if (typeof value !== 'string' || typeof operand !== 'string') return false;
    budget.spendText(value.length);
    return isRight(value, operand);
  };
}

const equal: AttributeTest = (value, operand, budget) => isEqual(value, operand, budget);
const different: AttributeTest = (value, operand, budget) =>
  !isNothing(value) && !isEqual(value, operand, budget);
const less = order((left, right) => left < right);
const atMost = order((left, right) => left <= right);
const more = order((left, right) => left > right);
const atLeast = order((left, right) => left >= right);

/** The tests of Jinja that compare, and the last four for texts, which Jinja lacks. */
export const ATTRIBUTE_TESTS: ReadonlyMap<unknown, AttributeTest> = new Map<unknown, AttributeTest>([
  ['==', equal],
  ['eq', equal],
  ['equalto', equal],
  ['!=', different],
  ['ne', different],
  ['<', less],
  ['lt', less],
  ['<=', atMost],
  ['le', atMost],
  ['>', more],
  ['gt', more],
  ['>=', atLeast],
  ['ge', atLeast],
  ['in', (value, operand, budget) => contains(operand, value, budget) === true],
  ['defined', (value) => value !== undefined],
  ['none', isNothing],
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['startswith', ofTexts((text, part) => text.startsWith(part))],
  ['endswith', ofTexts((text, part) => text.endsWith(part))],
  ['contains', ofTexts((text, part) => text.includes(part))],
  [
    'glob',
    (value, operand, budget) => {
      if (typeof value !== 'string' || typeof operand !== 'string') return false;
      budget.spendText(value.length + operand.length);
      return compileGlob(operand)(value);
    },
  ],
]);

function jsonText(value: unknown, budget: Budget): string {
  const text = JSON.stringify(toJson(value, budget) ?? null);
  budget.spendText(text.length);
  return text;
}

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
