import type { Json } from '../../core/canonical.ts';
import { unreachable } from '../../core/errors.ts';
import type { Comparison } from './syntax.ts';

/** The longest string that an expression may build, in UTF-16 units: GitHub's limit for a comment. */
const MAX_TEXT = 65_536;
/**
 * Work allowed in one evaluation, in characters of strings built: far above normal use, and at most a few
 * milliseconds.
 */
const MAX_WORK = 400_000;
/** The measured cost of visiting one value, in characters built. */
const VISIT = 16;
const MAX_DEPTH = 50;

/** Thrown inside an evaluation that exceeds a limit. `evaluate` turns it into `undefined`. */
export class LimitReached extends Error {}

/** Counts the work of one evaluation, so that no data can make it slow or large. */
export class Budget {
  #left = MAX_WORK;

  /** Counts the cost of visiting values. */
  visit(values = 1): void {
    this.#spend(values * VISIT);
  }

  /** Counts the cost of a string before it is built. */
  spendText(length: number): void {
    if (length > MAX_TEXT) throw new LimitReached('too long');
    this.#spend(length);
  }

  #spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new LimitReached('too much work');
  }
}

/**
 * An own data property of a list or mapping: nothing inherited, no getter called, no function returned.
 * Anything else is `undefined`, never an error.
 */
export function member(target: unknown, key: unknown): unknown {
  if (typeof target !== 'object' || target === null) return undefined;
  if (Array.isArray(target)) {
    if (key === 'length') return target.length;
    return typeof key === 'number' && Number.isInteger(key) ? ownData(target, String(key)) : undefined;
  }
  if (typeof key === 'string') return ownData(target, key);
  return typeof key === 'number' && Number.isInteger(key) ? ownData(target, String(key)) : undefined;
}

function ownData(target: object, name: string): unknown {
  const value: unknown = Object.getOwnPropertyDescriptor(target, name)?.value;
  return typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint'
    ? undefined
    : value;
}

/** A missing value or null, from which nothing can be concluded. */
export function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/**
 * Jinja's truthiness: false, zero, the empty string, list and mapping are false, and so are null and missing
 * values.
 */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}

/** Equality by value without coercion (`1` is not `'1'`). `none` and a missing member are equal. */
export function isEqual(left: unknown, right: unknown, budget: Budget, depth = 0): boolean {
  budget.visit();
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (typeof left !== 'object' || typeof right !== 'object') return left === right;
  if (depth > MAX_DEPTH) throw new LimitReached('too deep');
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const next = (key: string | number) => isEqual(member(left, key), member(right, key), budget, depth + 1);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((_, index) => next(index));
  }
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && next(key))
  );
}

/** A value as a string: empty for a missing value, JSON for lists and mappings. */
export function toText(value: unknown, budget: Budget): string {
  if (isNothing(value)) return '';
  if (typeof value === 'object') {
    const text = JSON.stringify(toJson(value, budget)) ?? '';
    budget.spendText(text.length);
    return text;
  }
  const text = String(value);
  budget.spendText(text.length);
  return text;
}

/** A copy as plain JSON, so that no live object, getter or function leaves an evaluation. */
export function toJson(value: unknown, budget: Budget, depth = 0): Json | undefined {
  budget.visit();
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'object') return undefined;
  if (depth > MAX_DEPTH) throw new LimitReached('too deep');
  if (Array.isArray(value)) {
    return Array.from(value.keys(), (index) => toJson(member(value, index), budget, depth + 1) ?? null);
  }
  const copy: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const json = toJson(member(value, key), budget, depth + 1);
    if (json !== undefined) copy.push([key, json]);
  }
  return Object.fromEntries(copy);
}

/** Whether two values of one type are in the order that the operator asks for. */
export function isInOrder<Value extends number | string>(
  operator: Exclude<Comparison, '==' | '!='>,
  left: Value,
  right: Value,
): boolean {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return unreachable(operator);
  }
}
