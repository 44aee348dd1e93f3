import { LRUCache } from 'lru-cache';
import type { Json } from '../../core/canonical.ts';
import { notAllowed } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { globProblem } from '../../core/glob.ts';
import { ATTRIBUTE_TESTS, contains, EXPRESSION_FILTERS } from './filters.ts';
import type { Reference } from './reference.ts';
import { stateDiagnostic } from './state-path.ts';
import {
  type Arithmetic,
  type Comparison,
  type Expression,
  ExpressionError,
  parseExpression,
  partsOf,
  type TestName,
} from './syntax.ts';
import {
  Budget,
  isEqual,
  isInOrder,
  isNothing,
  isTruthy,
  LimitReached,
  member,
  toJson,
  toText,
} from './value.ts';

export interface CompiledExpression {
  readonly source: string;
  /**
   * The value in a context. Never throws. A missing value, and one that would exceed a limit, is `undefined`.
   */
  evaluate(context: object): Json | undefined;
  readonly references: readonly Reference[];
  /** What is read of the entries of a list by filters, or after them, as paths to the first entry. */
  readonly attributes: readonly Reference[];
  /** Paths that are compared for equality with a written value. */
  readonly equated: readonly Equated[];
}

interface Equated extends Reference {
  value: string | number | boolean | null;
}

/** The names that an expression can start with. */
export const ROOTS = ['trigger', 'inputs', 'repo', 'steps', 'state'] as const;
/** The members of a step that expressions can read. */
const STEP_MEMBERS = ['id', 'status', 'outcome'] as const;

/** Those compiled last: every transition of a run compiles its chain's conditions. */
const compiledOf = new LRUCache<string, CompiledExpression>({ max: 500 });

/**
 * Compiles one expression, bare or as exactly one `{{ … }}`.
 * @param roots the names that it may start with
 * @throws ExpressionError, and no other error
 */
export function compileExpression(source: string, roots: readonly string[] = ROOTS): CompiledExpression {
  const key = JSON.stringify([source, roots]);
  const known = compiledOf.get(key);
  if (known) return known;
  const compiled = compiledNow(source, roots);
  compiledOf.set(key, compiled);
  return compiled;
}

function compiledNow(source: string, roots: readonly string[]): CompiledExpression {
  const bare = !source.includes('{{');
  const shift = bare ? -3 : 0;
  const moved = <T extends Reference>(reference: T): T => ({
    ...reference,
    offset: reference.offset + shift,
  });
  try {
    const compiled = compileParsed(parseExpression(source), roots);
    return {
      source,
      evaluate: compiled.evaluate,
      references: compiled.references.map(moved),
      attributes: compiled.attributes.map(moved),
      equated: compiled.equated.map(moved),
    };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new ExpressionError(error.message, Math.min(Math.max(error.offset + shift, 0), source.length));
  }
}

/** Compiles an expression that is part of a longer text. @throws ExpressionError */
export function compileParsed(
  expression: Expression,
  roots: readonly string[] = ROOTS,
): Omit<CompiledExpression, 'source'> {
  const references = referencesOf(expression);
  for (const reference of references) checkReference(reference, roots);
  const run = compile(expression);
  return {
    references,
    attributes: attributesOf(expression),
    equated: equatedIn(expression),
    evaluate(context) {
      const budget = new Budget();
      try {
        return toJson(run({ context, budget }), budget);
      } catch (error) {
        if (error instanceof LimitReached) return undefined;
        throw error;
      }
    },
  };
}

function referencesOf(expression: Expression): Reference[] {
  switch (expression.kind) {
    case 'name':
      return [{ root: expression.name, path: [], offset: expression.offset }];
    case 'member':
      return memberReferences(expression);
    default:
      return partsOf(expression).flatMap(referencesOf);
  }
}

/** Each path with a value that it is compared with: by `==`, `!=`, or `in` a list. */
function equatedIn(expression: Expression): Equated[] {
  const nested = partsOf(expression).flatMap(equatedIn);
  switch (expression.kind) {
    case 'compare': {
      if (expression.operator !== '==' && expression.operator !== '!=') return nested;
      const { left, right } = expression;
      return [...nested, ...equated(left, right), ...equated(right, left)];
    }
    case 'in': {
      const { left, right } = expression;
      return right.kind === 'list'
        ? [...nested, ...right.items.flatMap((item) => equated(left, item))]
        : nested;
    }
    default:
      return nested;
  }
}

function equated(of: Expression, value: Expression): Equated[] {
  const reference = pathOf(of);
  return reference && value.kind === 'literal' ? [{ ...reference, value: value.value }] : [];
}

/** What an expression that is only a path reads; `undefined` for any other, and for a path with a computed part. */
export function pathOf(expression: Expression): Reference | undefined {
  const [reference] = expression.kind === 'member' ? memberReferences(expression) : [];
  // A path with a computed part ends before it.
  return reference?.path.length === depthOf(expression) ? reference : undefined;
}

/** Filters whose result is a list of entries of their operand. */
const KEEPS_ENTRIES: readonly string[] = [
  'list',
  'selectattr',
  'rejectattr',
  'select',
  'reject',
  'sort',
  'unique',
];

/** Filters whose result is an entry of their operand. */
const TAKES_ENTRY: readonly string[] = ['first', 'last'];

function attributesOf(expression: Expression): Reference[] {
  if (expression.kind === 'member') return membersOfEntry(expression);
  const nested = partsOf(expression).flatMap(attributesOf);
  if (expression.kind !== 'filter') return nested;
  const { name, args, named, operand } = expression;
  const attribute =
    EXPRESSION_FILTERS.get(name)?.testAt === 1
      ? args[0]
      : named.find((argument) => argument.name === 'attribute')?.value;
  if (attribute?.kind !== 'literal' || typeof attribute.value !== 'string') return nested;
  const of = listOf(operand);
  if (!of) return nested;
  const path = [...of.path, 0, ...attribute.value.split('.')];
  return [...nested, { root: of.root, path, offset: attribute.offset }];
}

/** What `(list | first).line` and `(list | sort)[0].line` read. Their list is a reference of its own. */
function membersOfEntry(expression: Extract<Expression, { kind: 'member' }>): Reference[] {
  const { target, keys, path, offset } = literalKeysOf(expression);
  const nested = [target, ...keys].flatMap(attributesOf);
  if (target.kind !== 'filter') return nested;
  const takes = TAKES_ENTRY.includes(target.name);
  const of = takes ? listOf(target.operand) : KEEPS_ENTRIES.includes(target.name) && listOf(target);
  return of
    ? [...nested, { root: of.root, path: [...of.path, ...(takes ? [0] : []), ...path], offset }]
    : nested;
}

/** The list whose entries the expression has; `undefined` if that is not a path. */
function listOf(expression: Expression): Reference | undefined {
  let list = expression;
  while (list.kind === 'filter' && KEEPS_ENTRIES.includes(list.name)) list = list.operand;
  return pathOf(list);
}

function depthOf(expression: Expression): number {
  return expression.kind === 'member' ? 1 + depthOf(expression.target) : 0;
}

function memberReferences(expression: Extract<Expression, { kind: 'member' }>): Reference[] {
  const { target, keys, path } = literalKeysOf(expression);
  const computed = keys.flatMap((key) => (key.kind === 'literal' ? [] : referencesOf(key)));
  if (target.kind !== 'name') return [...referencesOf(target), ...computed];
  return [{ root: target.name, path, offset: target.offset }, ...computed];
}

/** What the members are read of, and the path up to the first computed key. */
function literalKeysOf(expression: Extract<Expression, { kind: 'member' }>) {
  const keys: Expression[] = [];
  let target: Expression = expression;
  while (target.kind === 'member') {
    keys.unshift(target.key);
    target = target.target;
  }
  const path: (string | number)[] = [];
  for (const key of keys) {
    if (key.kind !== 'literal' || (typeof key.value !== 'string' && typeof key.value !== 'number')) break;
    path.push(key.value);
  }
  return { target, keys, path, offset: target.offset };
}

/**
 * An expression reaches a step only by a literal id or number and a literal member. A computed one would
 * bypass the parser's check that the step comes before, and the rule that a condition on a missing outcome is
 * false.
 */
function checkReference({ root, path, offset }: Reference, roots: readonly string[]): void {
  if (!roots.includes(root)) {
    throw new ExpressionError(notAllowed(`"${root}" is not known here`, roots, root), offset);
  }
  if (root === 'state') {
    const diagnostic = stateDiagnostic(path);
    if (diagnostic !== undefined) throw new ExpressionError(diagnostic, offset);
  }
  if (root !== 'steps') return;
  const [, name] = path;
  if (name === undefined) {
    throw new ExpressionError(
      `name the step and what you want of it: steps.review.outcome, steps[0].status, or steps['my-step'].outcome for an id with "-"`,
      offset,
    );
  }
  if (!(STEP_MEMBERS as readonly unknown[]).includes(name)) {
    throw new ExpressionError(notAllowed(`a step has no "${name}"`, STEP_MEMBERS, String(name)), offset);
  }
}

interface Frame {
  readonly context: object;
  readonly budget: Budget;
}
type Run = (frame: Frame) => unknown;

function compile(expression: Expression): Run {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'name': {
      const { name } = expression;
      return ({ context }) => member(context, name);
    }
    case 'member': {
      const target = compile(expression.target);
      const key = compile(expression.key);
      return (frame) => member(target(frame), key(frame));
    }
    case 'list': {
      const items = expression.items.map(compile);
      return (frame) => items.map((item) => item(frame));
    }
    case 'dict': {
      const entries = expression.entries.map(({ key, value }) => [key, compile(value)] as const);
      return (frame) => Object.fromEntries(entries.map(([key, value]) => [key, value(frame)]));
    }
    case 'not': {
      const operand = compile(expression.operand);
      // `not` of a missing value is missing, so that a missing verdict cannot become a pass.
      return (frame) => {
        const value = operand(frame);
        return isNothing(value) ? undefined : !isTruthy(value);
      };
    }
    case 'negative':
    case 'positive': {
      const operand = compile(expression.operand);
      const sign = expression.kind === 'negative' ? -1 : 1;
      return (frame) => {
        const value = operand(frame);
        return typeof value === 'number' ? sign * value : undefined;
      };
    }
    case 'and': {
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (frame) => {
        const value = left(frame);
        return isTruthy(value) ? right(frame) : value;
      };
    }
    case 'or': {
      const left = compile(expression.left);
      const right = compile(expression.right);
      // Missing or false is missing. Otherwise `not (missing or false)` would be true.
      return (frame) => {
        const value = left(frame);
        if (isTruthy(value)) return value;
        const other = right(frame);
        return isNothing(value) && !isTruthy(other) ? undefined : other;
      };
    }
    case 'in': {
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (frame) => contains(right(frame), left(frame), frame.budget);
    }
    case 'concat': {
      const parts = expression.parts.map(compile);
      return (frame) => {
        const texts = parts.map((part) => toText(part(frame), frame.budget));
        frame.budget.spendText(texts.reduce((length, text) => length + text.length, 0));
        return texts.join('');
      };
    }
    case 'compare': {
      const { operator } = expression;
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (frame) => compare(operator, left(frame), right(frame), frame.budget);
    }
    case 'arithmetic': {
      const { operator } = expression;
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (frame) => calculate(operator, left(frame), right(frame));
    }
    case 'test': {
      const operand = compile(expression.operand);
      const holds = TESTS[expression.name];
      return (frame) => holds(operand(frame));
    }
    case 'choice': {
      const condition = compile(expression.condition);
      const yes = compile(expression.yes);
      const no = expression.no ? compile(expression.no) : () => undefined;
      return (frame) => (isTruthy(condition(frame)) ? yes(frame) : no(frame));
    }
    case 'filter':
      return compileFilter(expression);
    default:
      return unreachable(expression);
  }
}

const TESTS: Record<TestName, (value: unknown) => boolean> = {
  defined: (value) => value !== undefined,
  none: isNothing,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
};

function compileFilter({ name, operand, args, named, offset }: Extract<Expression, { kind: 'filter' }>): Run {
  const filter = EXPRESSION_FILTERS.get(name);
  if (!filter) {
    const message = `"${name}" is not a known filter`;
    throw new ExpressionError(notAllowed(message, [...EXPRESSION_FILTERS.keys()], name), offset);
  }
  for (const argument of named) {
    const wrong = `the filter "${name}" has no argument "${argument.name}"`;
    const known = filter.named ?? [];
    if (known.length === 0)
      throw new ExpressionError(`${wrong}; it takes its arguments without names`, argument.offset);
    if (!known.includes(argument.name)) {
      throw new ExpressionError(notAllowed(wrong, known, argument.name), argument.offset);
    }
  }
  const { min, max } = filter.args;
  if (args.length < min || args.length > max) {
    const wanted = min === max ? `${min}` : `${min} to ${max}`;
    throw new ExpressionError(`the filter "${name}" takes ${wanted} arguments, not ${args.length}`, offset);
  }
  const [test, operandOfTest] = filter.testAt === undefined ? [] : args.slice(filter.testAt);
  if (test?.kind === 'literal' && !ATTRIBUTE_TESTS.has(test.value)) {
    const message = `"${test.value}" is not a known test`;
    const known = [...ATTRIBUTE_TESTS.keys()].map(String);
    throw new ExpressionError(notAllowed(message, known, String(test.value)), test.offset);
  }
  if (test?.kind === 'literal' && test.value === 'glob' && operandOfTest?.kind === 'literal') {
    const problem = globProblem(String(operandOfTest.value));
    if (problem !== undefined)
      throw new ExpressionError(`this pattern cannot be used: ${problem}`, operandOfTest.offset);
  }
  const value = compile(operand);
  const rest = args.map(compile);
  const options = named.map((argument) => [argument.name, compile(argument.value)] as const);
  return (frame) =>
    filter.apply(
      value(frame),
      rest.map((arg) => arg(frame)),
      frame.budget,
      new Map(options.map(([option, run]) => [option, run(frame)])),
    );
}

/** Orders only two numbers or two strings. A missing number is not smaller than 3. */
function compare(operator: Comparison, left: unknown, right: unknown, budget: Budget): boolean | undefined {
  if (operator === '==') return isEqual(left, right, budget);
  if (operator === '!=') return !isEqual(left, right, budget);
  if (typeof left === 'number' && typeof right === 'number') return isInOrder(operator, left, right);
  if (typeof left === 'string' && typeof right === 'string') return isInOrder(operator, left, right);
  return undefined;
}

/** Numbers only, and only finite results. The operator for strings is `~`. */
function calculate(operator: Arithmetic, left: unknown, right: unknown): number | undefined {
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  const result = arithmetic(operator, left, right);
  return Number.isFinite(result) ? result : undefined;
}

function arithmetic(operator: Arithmetic, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '//':
      return Math.floor(left / right);
    case '%':
      return left % right;
    case '**':
      return left ** right;
    default:
      return unreachable(operator);
  }
}
