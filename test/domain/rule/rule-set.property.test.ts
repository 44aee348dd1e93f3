// @module-tag security

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FIELD_TYPES, type Rule } from '../../../src/domain/rule/rule.ts';
import { RuleSet } from '../../../src/domain/rule/rule-set.ts';
import { numRuns, seed } from './seed.ts';

const field = fc.constantFrom('a', 'b', 'a.b', 'b.0', 'b.length', 'constructor');
const enabled = fc.constantFrom(undefined, true, false);
const optional = fc.constantFrom(undefined, true, false);

const rule: fc.Arbitrary<Rule> = fc
  .oneof(
    fc.constant({ check: 'required' }),
    fc.record({ check: fc.constant('type'), type: fc.constantFrom(...FIELD_TYPES), optional }),
    fc.record({
      check: fc.constant('range'),
      min: fc.integer({ max: 3 }),
      max: fc.integer({ min: 3 }),
      optional,
    }),
    fc.record({ check: fc.constant('pattern'), pattern: fc.constantFrom('a*', '.*', '\\d+'), optional }),
    fc.record({
      check: fc.constant('custom'),
      message: fc.constant('no'),
      holds: fc.constantFrom(
        () => true,
        () => false,
        () => {
          throw new Error('thrown');
        },
      ),
    }),
  )
  .chain((check) =>
    fc.record({ field, enabled }).map((rest) => ({ rule_id: 'r', ...rest, ...check }) as Rule),
  );

const rules = fc
  .array(rule, { maxLength: 8 })
  .map((list) => list.map((one, index) => ({ ...one, rule_id: `r${index}` })));

const leaf = fc.oneof(
  fc.constantFrom(undefined, null, '', 'aaa', '42', true, Number.NaN, Number.POSITIVE_INFINITY),
  fc.double(),
  fc.integer(),
  fc.string(),
);
const value = fc.oneof(leaf, fc.array(leaf), fc.dictionary(fc.constantFrom('b', '0', '__proto__'), leaf));
const values = fc.record({ a: value, b: value }, { requiredKeys: [] });

test(`a set gives the result of each of its rules, in order (seed ${seed})`, () => {
  fc.assert(
    fc.property(rules, values, (list, given) => {
      const alone = list.flatMap((one) => new RuleSet([one]).check(given));
      expect(new RuleSet(list).check(given)).toEqual(alone);
    }),
    { seed, numRuns },
  );
});

test(`a disabled rule changes nothing, and an enabled one counts (seed ${seed})`, () => {
  fc.assert(
    fc.property(rules, values, (list, given) => {
      const on = list.filter((one) => one.enabled !== false);
      expect(new RuleSet(list).check(given)).toEqual(new RuleSet(on).check(given));
    }),
    { seed, numRuns },
  );
});

test(`a missing value breaks every enabled rule that is neither optional nor custom (seed ${seed})`, () => {
  fc.assert(
    fc.property(rules, (list) => {
      const strict = list.filter(
        (one) =>
          one.enabled !== false &&
          one.check !== 'custom' &&
          (one.check === 'required' || one.optional !== true),
      );
      const broken = new RuleSet(list.filter(({ check }) => check !== 'custom')).check({});
      expect(broken.map(({ rule_id }) => rule_id)).toEqual(strict.map(({ rule_id }) => rule_id));
    }),
    { seed, numRuns },
  );
});

test(`a value has at most one type, except that an int is also a float (seed ${seed})`, () => {
  fc.assert(
    fc.property(value, (given) => {
      const fits = FIELD_TYPES.filter((type) => {
        return (
          new RuleSet([{ rule_id: 'r', field: 'x', check: 'type', type }]).check({ x: given }).length === 0
        );
      });
      const isNumber = typeof given === 'number' && Number.isFinite(given);
      const isNothing = given === undefined || given === null || (typeof given === 'number' && !isNumber);
      const expected = isNumber ? (Number.isInteger(given) ? ['int', 'float'] : ['float']) : undefined;
      if (expected) expect(fits).toEqual(expected);
      else expect(fits).toHaveLength(isNothing ? 0 : 1);
    }),
    { seed, numRuns },
  );
});
