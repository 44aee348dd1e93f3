// @module-tag security

import { describe, expect, test } from 'vitest';
import { CountersignError } from '../../../src/core/errors.ts';
import type { Rule } from '../../../src/domain/rule/rule.ts';
import { RuleSet } from '../../../src/domain/rule/rule-set.ts';

/** The check of a rule about the field `x`. */
type Check = Rule extends infer R ? (R extends Rule ? Omit<R, 'rule_id' | 'field'> : never) : never;

/** The result of a single rule about `x` for a value. */
function said(check: Check, value: unknown): string | undefined {
  const [error] = new RuleSet([{ rule_id: 'only', field: 'x', ...check } as Rule]).check({ x: value });
  return error?.message;
}

const required: Check = { check: 'required' };
const range = (min?: number, max?: number): Check => ({
  check: 'range',
  ...(min === undefined ? {} : { min }),
  ...(max === undefined ? {} : { max }),
});
const digits: Check = { check: 'pattern', pattern: '\\d+' };

describe('`required`', () => {
  test.each([0, false, 'a', [], {}, Number.NaN])('accepts %j', (value) => {
    expect(said(required, value)).toBeUndefined();
  });

  test.each([undefined, null, '', ' \n\t'])('rejects %j', (value) => {
    expect(said(required, value)).toBe('x is missing');
  });
});

describe('`type`', () => {
  const values: Record<string, unknown> = {
    str: 'a',
    int: 3,
    float: 1.5,
    bool: true,
    list: [1],
    dict: { a: 1 },
  };
  const types = ['str', 'int', 'float', 'bool', 'list', 'dict'] as const;
  const pairs = types.flatMap((type) => Object.keys(values).map((is) => [type, is] as const));

  test.each(pairs)('of %s, for a value of type %s', (type, is) => {
    const fits = type === is || (type === 'float' && is === 'int');
    const message = fits ? undefined : `x must be of type ${type}, not ${is}`;
    expect(said({ check: 'type', type }, values[is])).toBe(message);
  });

  test.each([
    ['int', 5.0, true],
    ['int', -0, true],
    ['str', '', true],
    ['list', [], true],
    ['float', Number.NaN, false],
    ['float', Number.POSITIVE_INFINITY, false],
    ['dict', () => 1, false],
    ['str', Symbol('a'), false],
    ['int', 5n, false],
  ] as const)('%s of %s: %s', (type, value, holds) => {
    expect(said({ check: 'type', type }, value) === undefined).toBe(holds);
  });
});

describe('`range`', () => {
  test.each<[Check, unknown, string | undefined]>([
    [range(1, 5), 1, undefined],
    [range(1, 5), 5, undefined],
    [range(1, 5), 0.999, 'x must be at least 1, not 0.999'],
    [range(1, 5), 6, 'x must be at most 5, not 6'],
    [range(2, 2), 2, undefined],
    [range(3), 1e308, undefined],
    [range(undefined, 3), -1e308, undefined],
    [range(1), '5', 'x must be a number'],
    [range(0, 1), true, 'x must be a number'],
    [range(1), Number.NaN, 'x must be a number'],
    [range(1), [5], 'x must be a number'],
  ])('%j of %j: %s', (check, value, message) => {
    expect(said(check, value)).toBe(message);
  });
});

describe('`pattern`', () => {
  test.each<[unknown, string | undefined]>([
    ['12', undefined],
    ['12a', 'x does not match its pattern'],
    ['', 'x does not match its pattern'],
    [12, 'x must be a text'],
    [['12'], 'x must be a text'],
    ['1'.repeat(4_096), undefined],
    ['1'.repeat(4_097), 'x has more than 4096 characters, and so is not matched'],
  ])('of %j', (value, message) => {
    expect(said(digits, value)).toBe(message);
  });

  test('does not quote the text, which may contain a secret', () => {
    expect(said(digits, 'hunter2')).not.toContain('hunter2');
  });
});

describe('`custom`', () => {
  const custom = (holds: () => unknown): Check => ({
    check: 'custom',
    holds: holds as () => boolean,
    message: 'x is not what it should be',
  });

  test('holds if its function returns true', () => {
    expect(
      said(
        custom(() => true),
        1,
      ),
    ).toBeUndefined();
  });

  test('reports what its function returns', () => {
    expect(
      said(
        custom(() => 'x is odd'),
        1,
      ),
    ).toBe('x is odd');
  });

  test.each([false, undefined, null, 1, '', ' ', {}, Promise.resolve(true)])(
    'reports its own message if the function returns %j: only true passes',
    (answer) => {
      expect(
        said(
          custom(() => answer),
          1,
        ),
      ).toBe('x is not what it should be');
    },
  );

  test('that throws is broken, and the error is not shown', () => {
    const broken = custom(() => {
      throw new Error('cannot read /srv/keys');
    });
    expect(said(broken, 1)).toBe('x could not be checked');
  });

  test('that throws an error for users is broken, with the text of the error', () => {
    const broken = custom(() => {
      throw new CountersignError('test', 'the list of teams is empty');
    });
    expect(said(broken, 1)).toBe('x could not be checked: the list of teams is empty');
  });

  test('gets the value and all the others', () => {
    const seen: unknown[] = [];
    const rule: Rule = {
      rule_id: 'pair',
      field: 'a',
      check: 'custom',
      holds: (value, values) => seen.push(value, values) > 0,
      message: 'a is wrong',
    };
    new RuleSet([rule]).check({ a: 1, b: 2 });
    expect(seen).toEqual([1, { a: 1, b: 2 }]);
  });
});

describe('a missing value', () => {
  const checks: [string, Check][] = [
    ['type', { check: 'type', type: 'str' }],
    ['range', range(1)],
    ['pattern', { check: 'pattern', pattern: '.*' }],
  ];

  test.each(checks)('breaks a `%s`, because a missing verdict never passes', (_, check) => {
    expect([said(check, undefined), said(check, null)]).toEqual(['x is missing', 'x is missing']);
  });

  test.each(checks)('passes a `%s` that is optional', (_, check) => {
    const lenient = { ...check, optional: true } as Check;
    expect([said(lenient, undefined), said(lenient, null)]).toEqual([undefined, undefined]);
  });

  test.each(checks)('is the only thing that an optional `%s` forgives', (_, check) => {
    expect(
      said({ ...check, optional: true } as Check, check.check === 'pattern' ? 'a\nb' : []),
    ).toBeDefined();
  });
});

describe('the field of a rule', () => {
  const values = { pr: 7, checks: [{ name: 'build' }, { name: 'test' }], 'a-b': { c: { d: 'deep' } } };
  test.each<[field: string, value: string | number | undefined]>([
    ['pr', 7],
    ['checks.1.name', 'test'],
    ['checks.length', 2],
    ['a-b.c.d', 'deep'],
    ['checks.2.name', undefined],
    ['checks.-1', undefined],
    ['checks.name', undefined],
    ['pr.0', undefined],
    ['constructor', undefined],
    ['constructor.name', undefined],
    ['__proto__', undefined],
    ['checks.map', undefined],
    ['toString', undefined],
  ])('%s leads to %j', (field, value) => {
    const seen: unknown[] = [];
    const holds = (found: unknown) => seen.push(found) > 0;
    new RuleSet([{ rule_id: 'a', field, check: 'custom', holds, message: '' }]).check(values);
    expect(seen).toEqual([value]);
  });

  test('runs no getter, and breaks its rule if it cannot be read', () => {
    const trap = () => {
      throw new Error('touched');
    };
    const getter = Object.defineProperty({}, 'x', { get: trap, enumerable: true });
    const proxy = new Proxy({}, { getOwnPropertyDescriptor: trap });
    const rules = new RuleSet([{ rule_id: 'a', field: 'x', check: 'required' }]);
    expect(rules.check(getter)[0]?.message).toBe('x is missing');
    expect(rules.check(proxy)[0]?.message).toBe('x could not be checked');
  });
});

describe('a set of rules', () => {
  const rules: Rule[] = [
    { rule_id: 'c', field: 'x', check: 'type', type: 'int' },
    { rule_id: 'a', field: 'y', check: 'required' },
    { rule_id: 'off', field: 'y', check: 'required', enabled: false },
    { rule_id: 'fine', field: 'x', check: 'required' },
    { rule_id: 'b', field: 'x', check: 'range', min: 1 },
  ];

  test('reports every broken rule, in the given order', () => {
    expect(new RuleSet(rules).check({ x: 'text' })).toEqual([
      { rule_id: 'c', field: 'x', message: 'x must be of type int, not str' },
      { rule_id: 'a', field: 'y', message: 'y is missing' },
      { rule_id: 'b', field: 'x', message: 'x must be a number' },
    ]);
  });

  test('continues after a rule that throws', () => {
    const holds = () => {
      throw new Error('no');
    };
    const thrower: Rule = { rule_id: 'thrower', field: 'x', check: 'custom', holds, message: 'no' };
    const errors = new RuleSet([thrower, ...rules]).check({ x: 'text' });
    expect(errors.map(({ rule_id }) => rule_id)).toEqual(['thrower', 'c', 'a', 'b']);
  });

  test('without rules reports nothing', () => {
    expect(new RuleSet([]).check({})).toEqual([]);
  });

  test.each([undefined, false])('throws for a repeated rule_id, also with enabled: %s', (enabled) => {
    const again: Rule = {
      rule_id: 'a',
      field: 'z',
      check: 'required',
      ...(enabled === false && { enabled }),
    };
    expect(() => new RuleSet([...rules, again])).toThrow(
      expect.objectContaining({ code: 'rule.duplicate', message: 'the rule_id "a" is here twice' }),
    );
  });

  test.each<[string, Check, string]>([
    [
      'whose min is greater than its max',
      range(2, 1),
      'odd: no number is at least 2 and at most 1: "min" is greater than "max"',
    ],
    ['without bounds', range(), 'odd: a range needs a min, a max or both'],
    [
      'whose pattern cannot be used',
      { check: 'pattern', pattern: '[' },
      'odd: the pattern cannot be used: missing closing ]: `[`',
    ],
  ])('throws for a rule %s', (_, check, message) => {
    const rule = { rule_id: 'odd', field: 'x', ...check } as Rule;
    expect(() => new RuleSet([rule])).toThrow(expect.objectContaining({ code: 'rule.invalid', message }));
  });
});
