// @module-tag security

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compileExpression,
  compileTemplate,
  ExpressionError,
} from '../../../src/domain/expression/condition.ts';
import { withinEffort } from '../../support/effort.ts';

/** A context as hostile as possible: live functions, getters, prototypes with members, symbols. */
function hostileContext(): { context: object; touched: () => boolean } {
  let touched = false;
  const touch = () => {
    touched = true;
    return 'escaped';
  };
  const inherited = Object.create(
    { secret: 'inherited' },
    {
      getter: { enumerable: true, get: touch },
      plain: { enumerable: true, value: 'own' },
    },
  );
  const trigger = {
    call: touch,
    inherited,
    toString: touch,
    toJSON: touch,
    list: ['a', 'b'],
    text: 'x'.repeat(60_000),
    big: Array.from({ length: 100_000 }, (_, index) => index),
    symbol: Symbol('s'),
    huge: 10n,
    nested: [{ call: touch }, touch],
  };
  return { context: { trigger, repo: { [Symbol.iterator]: touch }, steps: {} }, touched: () => touched };
}

const REFUSED: [expression: string, message: string][] = [
  ['constructor', 'not known here'],
  ['constructor.constructor("return process")()', 'cannot be called'],
  ['globalThis.process', 'not known here'],
  ['process.env', 'not known here'],
  ['require("fs")', 'cannot be called'],
  ['this', 'not known here'],
  ['__proto__', 'not known here'],
  ['self', 'not known here'],
  ['range(1e9)', 'cannot be called'],
  ['range(1000000000)|length', 'cannot be called'],
  ['cycler(1)', 'cannot be called'],
  ['joiner()', 'cannot be called'],
  ['super()', 'cannot be called'],
  ['caller()', 'cannot be called'],
  ['trigger.call()', 'cannot be called'],
  ['trigger["call"]()', 'cannot be called'],
  ['trigger.text.constructor("return 1")()', 'cannot be called'],
  ['trigger.list.map(trigger.call)', 'cannot be called'],
  ['trigger.text.repeat(999999999)', 'cannot be called'],
  ['""["constructor"]["constructor"]("return this")()', 'cannot be called'],
  ['trigger|constructor', 'not a known filter'],
  ['trigger|__proto__', 'not a known filter'],
  ['trigger|toString', 'not a known filter'],
  ['trigger|safe', 'not a known filter'],
  ['trigger|dump', 'not a known filter'],
  ['trigger|groupby("constructor")', 'not a known filter'],
  ['trigger.list|sort(false, false, "constructor")', 'takes 0 arguments'],
  ['trigger|attr("constructor")', 'not a known filter'],
  ['"x"|center(1000000000)', 'not a known filter'],
  ['"x"|indent(1000000000)', 'not a known filter'],
  ['trigger.list|batch(1, trigger.call)', 'not a known filter'],
  ['trigger.list|join(",", "constructor")', 'takes 0 to 1 arguments'],
  ['trigger.text|default(value=trigger.call)', 'the filter "default" has no argument "value"'],
  ['trigger.list|map(constructor=1)', 'the filter "map" has no argument "constructor"'],
  ['trigger.list|map("constructor")', 'takes 0 arguments'],
  ['trigger.list|selectattr("a", "__proto__", 1)', 'not a known test'],
  ['trigger is callable', 'after `is`'],
  ['trigger is sameas(trigger)', 'after `is`'],
  ['r/(a+)+$/', 'regular expressions'],
  ['r/(/', 'regular expressions'],
  ['steps', 'name the step'],
  ['steps["rev" ~ "iew"].outcome.passed', 'name the step'],
  ['steps[trigger.x].outcome.passed', 'name the step'],
  ['steps.review["out" ~ "come"].passed', 'name the step'],
  ['(trigger or steps).review.outcome', 'name the step'],
  ['[steps][0].review.outcome', 'name the step'],
  ['steps.review.constructor', 'a step has no'],
  ['steps.__proto__.polluted', 'a step has no'],
  ['{% set x = 1 %}', 'tags'],
  ['{{ 1 }}{% include "/etc/passwd" %}', 'tags'],
  ['{# #}', 'comments'],
  ['{{ 1 }}{{ 2 }}', 'exactly one expression'],
  ['1 }} {{ 2', 'does not go on'],
  ['', 'missing before'],
  ['   ', 'missing before'],
  ['1 2', 'does not go on'],
  ['"open', 'does not go on'],
  ['(1', 'expected comma'],
  ['(1, 2)', 'one expression'],
  ['trigger[]', 'an index is missing'],
  ['trigger[1:2]', 'expected comma'],
  ['1 < 2 < 3', 'two values at a time'],
  ['9'.repeat(400), 'too large'],
  ['99999999999999999', 'too large'],
  [`${'('.repeat(900)}1${')'.repeat(900)}`, 'nested too deeply'],
  [`${'('.repeat(60)}1${')'.repeat(60)}`, 'nested more than 50'],
  [`${'['.repeat(60)}1${']'.repeat(60)}`, 'nested more than 50'],
  [`${'not '.repeat(400)}true`, 'nested more than 50'],
  [`${'-'.repeat(1_900)}1`, 'nested'],
  [`trigger${'.a'.repeat(60)}`, 'nested more than 50'],
  [`[${'1,'.repeat(300)}1]`, 'more than 200 parts'],
  [`"${'x'.repeat(2_100)}"`, 'at most 2000'],
  [`${' '.repeat(3_000)}`, 'at most 2000'],
];

const HARMLESS: [expression: string, value: unknown][] = [
  ['trigger.constructor', undefined],
  ['trigger.__proto__', undefined],
  ['trigger["__proto__"]["constructor"]', undefined],
  ['trigger.hasOwnProperty', undefined],
  ['trigger.call', undefined],
  ['trigger.toString', undefined],
  ['trigger.symbol', undefined],
  ['trigger.huge', undefined],
  ['trigger.inherited.secret', undefined],
  ['trigger.inherited.getter', undefined],
  ['trigger.inherited.plain', 'own'],
  ['trigger.inherited', { plain: 'own' }],
  ['trigger.nested', [{}, null]],
  ['trigger.nested|first', {}],
  ['trigger.nested|last', undefined],
  ['[trigger.call]', [null]],
  ['{"a": trigger.call}', {}],
  ['{"__proto__": {"polluted": 1} }.polluted', undefined],
  ['[trigger.call]|first', undefined],
  ['trigger.call|default("safe")', 'safe'],
  ['trigger.list.constructor', undefined],
  ['trigger.list["map"]', undefined],
  ['trigger.list["0"]', undefined],
  ['trigger.list[0.5]', undefined],
  ['trigger.list[-1]', undefined],
  ['trigger.list.length', 2],
  ['trigger.text.length', undefined],
  ['trigger.text["constructor"]', undefined],
  ['(1).constructor', undefined],
  ['repo[trigger.symbol]', undefined],
  ['repo[trigger.list]', undefined],
  ['repo[none]', undefined],
  ['trigger.missing.deeper.still', undefined],
  ['trigger.text ~ trigger.text', undefined],
  ['trigger.text|replace("x", "xxxxxxxxxx")', undefined],
  ['trigger.text|replace("", "xxxxxxxxxx")', undefined],
  ['trigger.big|join(trigger.text)', undefined],
  ['trigger.big|join', undefined],
  ['trigger.big ~ ""', undefined],
  ['[trigger.big, trigger.big, trigger.big]', undefined],
  ['[trigger.big, trigger.big, trigger.big] == [trigger.big, trigger.big, trigger.big]', undefined],
  ['9007199254740991 ** 9007199254740991', undefined],
  ['1 / 0', undefined],
  ['0 / 0', undefined],
  ['1 % 0', undefined],
  ['none + 1', undefined],
  ['"1" + 1', undefined],
  ['trigger.list < 3', undefined],
  ['1.5|round(400)', undefined],
  ['"constructor" in trigger', false],
  ['"call" in trigger.text', false],
  ['1 in 2', undefined],
  ['trigger.list|map(attribute="constructor")', [null, null]],
  ['trigger.list|map(attribute="__proto__.constructor")', [null, null]],
  ['[trigger.inherited]|map(attribute="secret")', [null]],
  ['[trigger.inherited]|selectattr("getter")', []],
  ['[trigger]|selectattr("call")', []],
  ['[trigger.call]|sort', undefined],
  ['[trigger.call]|unique', [null]],
  ['trigger.list|selectattr("a", trigger.call)', undefined],
  ['[repo, trigger]|map(attribute=trigger.call)', [null, null]],
  ['trigger.big|sort|first', undefined],
  ['trigger.big|unique|unique|unique|unique|unique|unique|unique|length', undefined],
  ['trigger.big|tojson', undefined],
];

/** Rows with a name that is short enough to read. */
function named<T>(
  rows: [expression: string, expected: T][],
): [name: string, expression: string, expected: T][] {
  return rows.map(([expression, expected]) => [expression.slice(0, 60), expression, expected]);
}

describe('an expression that should escape or exhaust the app', () => {
  test.each(named(REFUSED))('is refused: %s', (_, expression, message) => {
    const refusal = () => compileExpression(expression);
    expect(refusal).toThrow(ExpressionError);
    expect(refusal).toThrow(message);
    withinEffort(50, () => expect(refusal).toThrow());
  });

  test.each(named(HARMLESS))('gives nothing away: %s', (_, expression, expected) => {
    const { context, touched } = hostileContext();
    const evaluate = () => compileExpression(expression).evaluate(context);
    expect(withinEffort(50, evaluate)).toEqual(expected);
    expect(touched()).toBe(false);
  });

  test('never reaches a live object of the context', () => {
    const trigger = { list: [{ a: 1 }] };
    const value = compileExpression('trigger.list').evaluate({ trigger });
    expect(value).toEqual(trigger.list);
    expect(value).not.toBe(trigger.list);
  });

  test('gives no value in a context that contains itself', () => {
    const trigger: Record<string, unknown> = {};
    trigger.self = trigger;
    expect(compileExpression('trigger').evaluate({ trigger })).toBeUndefined();
    expect(compileExpression('trigger == trigger.self').evaluate({ trigger })).toBeUndefined();
  });

  test('does not reach the prototype of all objects', () => {
    const value = compileExpression('{"__proto__": {"polluted": true} }').evaluate({});
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('any expression', () => {
  const words = fc.constantFrom(
    'trigger',
    'steps',
    'repo',
    '.',
    '[',
    ']',
    '(',
    ')',
    '{{',
    '}}',
    '{',
    '}',
    '{%',
    '#}',
    '|',
    'length',
    'join',
    '"',
    "'",
    'not',
    'and',
    'or',
    'in',
    'is',
    'if',
    'else',
    'none',
    '==',
    '<',
    '~',
    '+',
    '-',
    '**',
    ',',
    ':',
    '1',
    'r/',
    '\\',
    ' ',
    '\n',
    'constructor',
  );
  const source = fc.oneof(
    fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' ')),
    fc.array(words, { maxLength: 30 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );

  test.each([
    ['expressions', compileExpression],
    ['templates', compileTemplate],
  ])('compiles or throws an ExpressionError with its place, and evaluates to JSON: %s', (_, compile) => {
    const { context } = hostileContext();
    fc.assert(
      fc.property(source, (text) => {
        try {
          const value = compile(text).evaluate(context);
          expect(JSON.parse(JSON.stringify(value) ?? 'null')).toEqual(value ?? null);
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
          expect(error.offset).toBeGreaterThanOrEqual(0);
          expect(error.offset).toBeLessThanOrEqual(text.length);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
