// @module-tag security

import { describe, expect, test } from 'vitest';
import { chainSchema } from '../../../src/domain/chain/chain.ts';
import { chainOf, errorsOf, withSteps } from '../../support/chains.ts';
import { withinEffort } from '../../support/effort.ts';

/** A step whose rules start on line 8, at column 9 after the dash. */
const validating = (...rules: string[]) =>
  withSteps(
    [
      '  - action: gh-label',
      '    with: {pr: 7, labels: [a]}',
      '    validate:',
      ...rules.map((rule) => `      - {${rule}}`),
    ].join('\n'),
  );
const expecting = (uses: string, ...rules: string[]) =>
  withSteps(
    [
      `  - ${uses}`,
      '    requires_approval: true',
      '    expect:',
      ...rules.map((rule) => `      - {${rule}}`),
    ].join('\n'),
  );

describe('rules in a chain file', () => {
  test('are kept in the definition as they are written', () => {
    const chain = chainOf(
      validating(
        'rule_id: n, field: pr, check: type, type: int',
        'rule_id: l, field: labels.length, check: range, max: 3, optional: true, enabled: false',
      ),
    );
    expect(chain.steps[0]).toMatchObject({
      validate: [
        { rule_id: 'n', field: 'pr', check: 'type', type: 'int' },
        { rule_id: 'l', field: 'labels.length', check: 'range', max: 3, optional: true, enabled: false },
      ],
    });
    expect(chain.steps[0]).not.toHaveProperty('expect');
    expect(chainSchema.parse(chain)).toEqual(chain);
  });

  test('can share a rule_id if one is in validate and the other in expect', () => {
    const rule = '[{rule_id: a, field: F, check: required}]';
    const text = withSteps(
      `  - skill: ci\n    with: {pr: 7}\n    validate: ${rule.replace('F', 'pr')}\n    expect: ${rule.replace('F', 'passed')}`,
    );
    expect(errorsOf(text)).toEqual([]);
  });

  const table: [behaviour: string, text: string, diagnostics: string[]][] = [
    [
      'an unknown check',
      validating('rule_id: a, field: pr, check: rnge, min: 1'),
      ['8:40: "check" cannot be "rnge": did you mean "range"? Allowed: required, type, range, pattern'],
    ],
    [
      'a check that only code can use',
      validating('rule_id: a, field: pr, check: custom'),
      ['8:40: "check" cannot be "custom"; allowed: required, type, range, pattern'],
    ],
    ['a rule without a check', validating('rule_id: a, field: pr'), ['8:9: "check" is missing']],
    ['an empty rule', validating(''), ['8:9: "check" is missing']],
    [
      'a check that is not a text',
      validating('rule_id: a, field: pr, check: [type]'),
      ['8:40: "check" cannot be a list; allowed: required, type, range, pattern'],
    ],
    [
      'an unknown field type',
      validating('rule_id: a, field: pr, check: type, type: integer'),
      ['8:52: "type" cannot be "integer"; allowed: str, int, float, bool, list, dict'],
    ],
    [
      'a key of another check',
      validating('rule_id: a, field: pr, check: type, type: int, min: 1'),
      ['8:57: unknown key "min"; allowed: rule_id, field, enabled, optional, check, type'],
    ],
    [
      'an optional `required`',
      validating('rule_id: a, field: pr, check: required, optional: true'),
      ['8:50: unknown key "optional"; allowed: rule_id, field, enabled, check'],
    ],
    [
      'a range without bounds',
      validating('rule_id: a, field: pr, check: range'),
      ['8:9: a range needs a min, a max or both'],
    ],
    [
      'an empty range',
      validating('rule_id: a, field: pr, check: range, min: 2, max: 1.5'),
      ['8:52: no number is at least 2 and at most 1.5: "min" is greater than "max"'],
    ],
    [
      'a bound that is not a number',
      validating('rule_id: a, field: pr, check: range, min: one'),
      ['8:52: "min" must be a number, not "one"'],
    ],
    [
      'a bad pattern',
      validating('rule_id: a, field: labels.0, check: pattern, pattern: "(a"'),
      ['8:64: the pattern cannot be used: missing closing ): `(a`'],
    ],
    [
      'an empty pattern',
      validating('rule_id: a, field: labels.0, check: pattern, pattern: ""'),
      ['8:64: "pattern" must have at least 1 character'],
    ],
    [
      'a pattern that is too long',
      validating(`rule_id: a, field: labels.0, check: pattern, pattern: ${'a'.repeat(201)}`),
      ['8:64: "pattern" must have at most 200 characters'],
    ],
    [
      'an unknown input',
      validating('rule_id: a, field: label.0, check: required'),
      ['8:29: "with" has no input "label": did you mean "labels"? Allowed: pr, labels'],
    ],
    [
      'an invalid field',
      validating('rule_id: a, field: "pr..x", check: required'),
      ['8:29: a field is a name, or names with dots between them, such as pr or checks.0.name'],
    ],
    [
      'an invalid rule_id',
      validating('rule_id: a b, field: pr, check: required'),
      ['8:19: a rule_id has at most 50 letters, digits, "-" and "_", and starts with a letter or digit'],
    ],
    [
      'a repeated rule_id, once disabled',
      validating(
        'rule_id: a, field: pr, check: required',
        'rule_id: a, field: pr, check: required, enabled: false',
      ),
      ['9:19: the rule_id "a" is here twice'],
    ],
    [
      'a member that no outcome has',
      expecting('skill: ci', 'rule_id: a, field: test_cuont, check: required'),
      ['8:29: no outcome of this step has "test_cuont": did you mean "test_count"?'],
    ],
    [
      'a member that no action’s outcome has',
      expecting(
        'action: gh-label\n    with: {labels: [a]}',
        'rule_id: a, field: test_count, check: required',
      ),
      ['9:29: no outcome of this step has "test_count"; allowed:'],
    ],
    [
      'the outcome of a merge',
      expecting('action: gh-merge', 'rule_id: a, field: passed, check: required'),
      ['7:5: gh-merge cannot have "expect": by then it is merged; expect it of the steps before'],
    ],
    ['no rules', withSteps('  - skill: ci\n    expect: []'), ['6:13: "expect" must have at least 1 entry']],
    [
      'rules that are not a list',
      withSteps('  - skill: ci\n    expect: passed'),
      ['6:13: "expect" must be a list, not "passed"'],
    ],
    [
      'inputs of a step that has none',
      withSteps('  - skill: ci\n    validate: [{rule_id: a, field: pr, check: required}]'),
      ['6:36: "with" has no input "pr"; allowed: none'],
    ],
  ];
  test.each(table)('are invalid with %s', (_, text, diagnostics) => {
    const found = errorsOf(text);
    expect(found).toHaveLength(diagnostics.length);
    for (const [index, diagnostic] of diagnostics.entries())
      expect(found[index]).toContain(`chain.yaml:${diagnostic}`);
  });

  test('report all their errors at once, beside those of the rest of the file', () => {
    const text = validating(
      'rule_id: a, field: x, check: type, type: integer, min: 1',
      'rule_id: a, field: labels.0, check: pattern, pattern: "["',
      'rule_id: c, field: pr, check: range, min: 2, max: 1, odd: 1',
    ).replace('name: example', 'name: Example');
    expect(errorsOf(text).map((diagnostic) => diagnostic.split(': ', 1)[0])).toEqual([
      'chain.yaml:1:7',
      'chain.yaml:8:29',
      'chain.yaml:8:51',
      'chain.yaml:8:60',
      'chain.yaml:9:19',
      'chain.yaml:9:64',
      'chain.yaml:10:52',
      'chain.yaml:10:63',
    ]);
  });
});

describe('a file of rules that should exhaust the parser', () => {
  const many = (rule: (n: number) => string, count: number) =>
    validating(...Array.from({ length: count }, (_, n) => rule(n)));
  const costly = `(?:${'.*'.repeat(90)}){1000}`;
  test.each<[string, string, string]>([
    ['900 rules', many((n) => `rule_id: r${n}, field: pr, check: required`, 900), 'at most 20 entries'],
    [
      '200 patterns of 190,000 instructions each',
      many((n) => `rule_id: r${n}, field: pr, check: pattern, pattern: "${costly}"`, 200),
      'too large',
    ],
    [
      '600 patterns that just fit',
      many((n) => `rule_id: r${n}, field: pr, check: pattern, pattern: "(.*){1,55}x"`, 600),
      'at most 20 entries',
    ],
    ['900 rules with one name', many(() => 'rule_id: a, field: pr, check: required', 900), 'is here twice'],
  ])('is refused with little work: %s', (_, text, message) => {
    expect(withinEffort(2_000, () => errorsOf(text)).join('\n')).toContain(message);
  });
});
