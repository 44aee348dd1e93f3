import type { Json } from '../../core/canonical.ts';
import { asksAbout, type CompiledExpression, compileExpression } from '../expression/condition.ts';
import { type Expression, ExpressionError, parseExpression } from '../expression/syntax.ts';
import { isInOrder, isNothing, isTruthy } from '../expression/value.ts';
import { VERDICTS } from '../outcome/review-verdict.ts';
import type { KnownNames } from './known-names.ts';
import type { StepOutline } from './outline.ts';
import type { TriggerFilter } from './trigger-schema.ts';

/**
 * The evaluations of conditions that are left. Once they are spent, steps count as able to run. Anybody can open
 * a pull request with chains that take long, so the files of one share them.
 */
export interface SearchBudget {
  evaluations: number;
}

export function searchBudget(): SearchBudget {
  return { evaluations: 3_000 };
}

type Value = string | number | boolean | null | undefined;
type Status = 'completed' | 'skipped' | 'failed' | 'timed_out';

interface CheckedStep {
  outline: StepOutline;
  dependencies: CheckedStep[];
  /** Its condition decides alone: see `Transition.enter`. */
  isFree: boolean;
  continues: boolean;
  condition: { expression: Expression; compiled: CompiledExpression } | undefined;
}

/**
 * Why a step can never run, by its index. Steps that may run are left out, and so is every step where the
 * search is too long: a warning must be true.
 *
 * The rules of `Transition.enter` are tried on everything that could happen: each step completes or fails, a
 * verdict is any of its words, and what a condition says about anything else is any value that it is compared
 * with, or another.
 */
export function neverRunning(
  outlines: readonly StepOutline[],
  { outcomes = {} }: KnownNames,
  filter: TriggerFilter,
  continuesOnFailure: (index: number) => boolean,
  budget: SearchBudget,
): Map<number, string> {
  const steps: CheckedStep[] = [];
  for (const outline of outlines) {
    steps.push({
      outline,
      dependencies: [],
      isFree: outline.condition !== undefined && !outline.dependsOnWritten,
      continues: continuesOnFailure(outline.index),
      condition: outline.condition === undefined ? undefined : conditionOf(outline.condition),
    });
  }
  const byId = new Map(steps.map((step) => [step.outline.id, step]));
  for (const step of steps) step.dependencies = step.outline.dependsOn.flatMap((id) => byId.get(id) ?? []);
  const stepAt = (key: unknown) => (typeof key === 'number' ? steps[key] : byId.get(String(key)));
  const literals = [
    ...new Set(steps.flatMap(({ condition }) => (condition ? literalsOf(condition.expression) : []))),
  ];
  const anything: readonly Value[] = [
    true,
    false,
    undefined,
    OTHER_TEXT,
    OTHER_NUMBER,
    ...literals.flatMap(around),
  ];

  /** Whether some choice of values makes the goal true. */
  function isPossible(goal: (world: World) => boolean): boolean {
    const chosen = new Map<string, Value>();
    const choose = (key: string, domain: readonly Value[]): Value => {
      if (!chosen.has(key)) throw new Undecided(key, domain);
      return chosen.get(key);
    };
    const search = (): boolean => {
      try {
        return goal({ choose, statuses: new Map() });
      } catch (error) {
        if (!(error instanceof Undecided)) throw error;
        for (const value of error.domain) {
          chosen.set(error.key, value);
          if (search()) return true;
        }
        chosen.delete(error.key);
        return false;
      }
    };
    return search();
  }

  function statusOf(step: CheckedStep, world: World): Status {
    const known = world.statuses.get(step);
    if (known) return known;
    const ends: Status[] = step.continues ? ['completed', 'failed', 'timed_out'] : ['completed'];
    const status = runs(step, world)
      ? (world.choose(`status of ${step.outline.id}`, ends) as Status)
      : 'skipped';
    world.statuses.set(step, status);
    return status;
  }

  function runs(step: CheckedStep, world: World): boolean {
    return !missing(step, world) && holds(step, world);
  }

  /** The dependency because of which the step is skipped. */
  function missing({ dependencies, isFree, condition }: CheckedStep, world: World): CheckedStep | undefined {
    return dependencies.find((other) => {
      const isAsked = condition && asksAbout(condition.compiled, other.outline);
      return !isFree && !isAsked && statusOf(other, world) === 'skipped';
    });
  }

  function holds({ condition }: CheckedStep, world: World): boolean {
    if (!condition) return true;
    if (--budget.evaluations < 0) throw new TooMany();
    const hasOutcomes = condition.compiled.references.every(({ root, path: [key, member] }) => {
      const other = root === 'steps' && member === 'outcome' ? stepAt(key) : undefined;
      return !other || statusOf(other, world) === 'completed';
    });
    return hasOutcomes && evaluate(condition.expression, world) === true;
  }

  function evaluate(expression: Expression, world: World): Value {
    const value = (part: Expression) => evaluate(part, world);
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'not': {
        const operand = value(expression.operand);
        return isNothing(operand) ? undefined : !isTruthy(operand);
      }
      case 'and': {
        const first = value(expression.left);
        return isTruthy(first) ? value(expression.right) : first;
      }
      case 'or': {
        const first = value(expression.left);
        if (isTruthy(first)) return first;
        const second = value(expression.right);
        return isNothing(first) && !isTruthy(second) ? undefined : second;
      }
      case 'choice': {
        const { condition, yes, no } = expression;
        return isTruthy(value(condition)) ? value(yes) : no && value(no);
      }
      case 'compare':
        return isPlain(expression.left) && isPlain(expression.right)
          ? compared(expression, value(expression.left), value(expression.right), () =>
              free(expression, world),
            )
          : free(expression, world);
      case 'in': {
        const { left: item, right: list } = expression;
        if (!isPlain(item) || list.kind !== 'list' || !list.items.every(isPlain))
          return free(expression, world);
        const wanted = value(item);
        return list.items.some((one) => same(value(one), wanted));
      }
      default:
        return free(expression, world);
    }
  }

  /** A value that nothing here decides. Equal expressions have equal values. */
  function free(expression: Expression, world: World): Value {
    const path = pathOf(expression);
    if (path?.[0] === 'steps') {
      const [, key, member, field] = path;
      const step = stepAt(key);
      if (step && member === 'status' && path.length === 3) return statusOf(step, world);
      if (step && member === 'outcome' && path.length === 4) {
        const name = `${step.outline.id}.${field}`;
        if (field === 'passed') return world.choose(name, [true, false, null]);
        if (field === 'verdict' && outcomes[step.outline.skill ?? ''] === 'review_verdict')
          return world.choose(name, [...VERDICTS, null]);
        return world.choose(name, anything);
      }
    }
    if (path?.join('.') === 'trigger.draft' && filter.draft !== undefined) return filter.draft;
    return world.choose(keyOf(expression, path), anything);
  }

  /** The same, with every other step as it pleases. */
  const alone = (step: CheckedStep) => (world: World) => {
    const condition = step.condition;
    if (!condition) return true;
    for (const other of steps) {
      if (!asksAbout(condition.compiled, other.outline)) continue;
      const all: Status[] = ['completed', 'skipped', 'failed', 'timed_out'];
      world.statuses.set(other, world.choose(`any status of ${other.outline.id}`, all) as Status);
    }
    return holds(step, world);
  };

  const found = new Map<number, string>();
  const never = new Set<CheckedStep>();
  try {
    for (const step of steps) {
      if (isPossible((world) => runs(step, world))) continue;
      never.add(step);
      found.set(step.outline.index, reasonOf(step));
    }
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
  }
  return found;

  function reasonOf(step: CheckedStep): string {
    if (!isPossible(alone(step))) return 'its condition is never true';
    const { condition } = step;
    const needed = steps.filter(
      (other) =>
        (step.dependencies.includes(other) && !step.isFree) ||
        (condition && asksAbout(condition.compiled, other.outline)),
    );
    const dead = needed.find((other) => never.has(other));
    if (dead) return `"${dead.outline.id}", which it needs, never runs`;
    const skipped = needed.find((other) =>
      isPossible((world) => {
        world.statuses.set(other, 'completed');
        return runs(step, world);
      }),
    );
    if (skipped) return `"${skipped.outline.id}", which it needs, is skipped whenever its condition is true`;
    const failing = needed.find(
      (other) =>
        !other.continues &&
        isPossible((world) => {
          const failed = world.choose(`failure of ${other.outline.id}`, ['failed', 'timed_out']);
          world.statuses.set(other, failed as Status);
          return runs(step, world);
        }),
    );
    return failing
      ? `the run ends if "${failing.outline.id}" does not complete; "on_failure: continue" there lets it go on`
      : 'some step that it needs is skipped whenever its condition is true';
  }
}

interface World {
  choose(key: string, domain: readonly Value[]): Value;
  statuses: Map<CheckedStep, Status>;
}

/** Thrown where the search has to choose a value. */
class Undecided extends Error {
  readonly key: string;
  readonly domain: readonly Value[];
  constructor(key: string, domain: readonly Value[]) {
    super('undecided');
    this.key = key;
    this.domain = domain;
  }
}

class TooMany extends Error {}

/** Values that no chain compares anything with. */
const OTHER_TEXT = '\u0000';
const OTHER_NUMBER = 0.123_456_789;

/** A literal, and for a number what is just below and above it. */
function around(value: Value): Value[] {
  return typeof value === 'number' ? [value, value - 0.5, value + 0.5] : [value];
}

function compared(
  { operator }: Extract<Expression, { kind: 'compare' }>,
  left: Value,
  right: Value,
  unknown: () => Value,
): Value {
  if (operator === '==') return same(left, right);
  if (operator === '!=') return !same(left, right);
  if (typeof left === 'string' && typeof right === 'string') return unknown();
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  return isInOrder(operator, left, right);
}

function same(left: Value, right: Value): boolean {
  return isNothing(left) ? isNothing(right) : left === right;
}

/** Whether its value is one that the search knows: no list and no mapping. */
function isPlain({ kind }: Expression): boolean {
  return kind !== 'list' && kind !== 'dict';
}

/** The members of a path without computed parts, with its root. */
function pathOf(expression: Expression): (string | number)[] | undefined {
  if (expression.kind === 'name') return [expression.name];
  if (expression.kind !== 'member' || expression.key.kind !== 'literal') return undefined;
  const { value } = expression.key;
  const above = pathOf(expression.target);
  return above && (typeof value === 'string' || typeof value === 'number') ? [...above, value] : undefined;
}

function literalsOf(expression: Expression): Value[] {
  const literals: Value[] = [];
  JSON.stringify(expression, (_, part: Json | { kind?: unknown; value?: unknown }) => {
    if (typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'literal')
      literals.push(part.value as Value);
    return part;
  });
  return literals;
}

const keys = new WeakMap<Expression, string>();

/** Equal for expressions that are written the same. */
function keyOf(expression: Expression, path: readonly (string | number)[] | undefined): string {
  const known = keys.get(expression);
  if (known !== undefined) return known;
  const parts = path ?? expression;
  const key = JSON.stringify(parts, (name, value: unknown) => (name === 'offset' ? undefined : value));
  keys.set(expression, key);
  return key;
}

/** `undefined` for a text that has errors of its own. */
function conditionOf(text: string): CheckedStep['condition'] {
  try {
    return { expression: parseExpression(text), compiled: compileExpression(text) };
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}
