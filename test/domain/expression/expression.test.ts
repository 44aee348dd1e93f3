import { describe, expect, test } from 'vitest';
import { compileExpression } from '../../../src/domain/expression/condition.ts';

const context = {
  trigger: { title: ' Fix Σ ', number: 7, labels: ['bug', 'ui'], draft: false, nil: null, map: { a: 1 } },
  repo: { default_branch: 'main' },
  steps: {},
};

describe('the value of an expression', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 // 2', 3],
    ['7 % 4', 3],
    ['2 ** 10', 1024],
    ['-trigger.number', -7],
    ['1.5', 1.5],
    ['"a" ~ 1 ~ true ~ none', 'a1true'],
    ['trigger.map ~ ""', '{"a":1}'],
    ['trigger.number == 7', true],
    ['trigger.number == "7"', false],
    ['trigger.number != 7', false],
    ['trigger.number >= 7', true],
    ['"a" < "b"', true],
    ['trigger.labels == ["bug", "ui"]', true],
    ['trigger.labels == ["ui", "bug"]', false],
    ['trigger.map == {a: 1}', true],
    ['trigger.map == {a: 1, b: 2}', false],
    ['trigger.nil == trigger.missing', true],
    ['"bug" in trigger.labels', true],
    ['"docs" not in trigger.labels', true],
    ['"a" in trigger.map', true],
    ['"ix" in trigger.title', true],
    ['trigger.number is defined', true],
    ['trigger.missing is defined', false],
    ['trigger.missing is not defined', true],
    ['trigger.nil is none', true],
    ['trigger.number is not none', true],
    ['"yes" if trigger.number > 3 else "no"', 'yes'],
    ['"yes" if trigger.missing else "no"', 'no'],
    ['"yes" if trigger.draft', undefined],
    ['trigger.missing or "other"', 'other'],
    ['trigger.draft or 0', 0],
    ['trigger.labels[1]', 'ui'],
    ['trigger["title"] | trim | upper', 'FIX Σ'],
    ['"ABC"|lower', 'abc'],
    ['trigger.labels|length', 2],
    ['trigger.map|length', 1],
    ['"🚀"|length', 2],
    ['trigger.missing|length', undefined],
    ['trigger.labels|join(", ")', 'bug, ui'],
    ['trigger.labels|first', 'bug'],
    ['trigger.labels|last', 'ui'],
    ['"12"|int + 1', 13],
    ['"x"|int(5)', 5],
    ['3.7|int', 3],
    ['7|string', '7'],
    ['"a-b-c"|replace("-", ".")', 'a.b.c'],
    ['2.345|round(2)', 2.35],
    ['2.5|round', 3],
    ['(-4)|abs', 4],
    ['trigger.nil|default("none said")', 'none said'],
    ['not trigger.draft', true],
    ['not []', true],
    ['not {a: 1}', false],
    ['repo.default_branch', 'main'],
  ])('is as documented for %s', (expression, expected) => {
    expect(compileExpression(expression).evaluate(context)).toEqual(expected);
  });

  test('is the same with and without {{ }}', () => {
    expect(compileExpression('{{ trigger.number }}').evaluate(context)).toBe(7);
    expect(compileExpression('\n  {{ trigger.number }}\n').evaluate(context)).toBe(7);
  });
});

const findings = [
  { id: 'a', severity: 'high', file: 'src/auth/login.ts', line: 12, range: { start: 3 } },
  { id: 'b', severity: 'low', file: 'src/auth/token.ts', line: 4, range: { start: 1 } },
  { id: 'c', severity: 'high', file: 'README.md', line: null },
  { id: 'd', severity: 'high', file: 'src/auth/login.ts', line: 7, range: { start: 2 } },
];

describe('an expression about a list of mappings', () => {
  const about = { ...context, steps: { review: { outcome: { findings } } } };
  const list = 'steps.review.outcome.findings';
  const ids = (rest: string) => `${list} | ${rest} | map(attribute='id') | join(' ')`;

  test.each([
    [`${list} | selectattr('severity', 'equalto', 'high') | list | length`, 3],
    [
      `(${list} | selectattr('severity', '==', 'high') | selectattr('file', 'startswith', 'src/auth/') | length) > 0`,
      true,
    ],
    [ids("selectattr('line')"), 'a b d'],
    [ids("selectattr('line', 'gt', 5)"), 'a d'],
    [ids("selectattr('line', 'le', 7)"), 'b d'],
    [ids("selectattr('range.start', 'ge', 2)"), 'a d'],
    [ids("selectattr('severity', 'in', ['low', 'info'])"), 'b'],
    [ids("selectattr('range', 'defined')"), 'a b d'],
    [ids("selectattr('line', 'none')"), 'c'],
    [ids("selectattr('line', 'number')"), 'a b d'],
    [ids("selectattr('file', 'endswith', '.md')"), 'c'],
    [ids("selectattr('file', 'contains', 'login')"), 'a d'],
    [ids("selectattr('severity', 'ne', 'high')"), 'b'],
    [ids("rejectattr('severity', 'eq', 'high')"), 'b'],
    [ids("rejectattr('missing', 'eq', 'high')"), 'a b c d'],
    [ids("sort(attribute='file')"), 'c a d b'],
    [ids("selectattr('line') | sort(attribute='line')"), 'b d a'],
    [ids("selectattr('line') | sort(attribute='line', reverse=true)"), 'a d b'],
    [ids("unique(attribute='file')"), 'a b c'],
    [`${list} | map(attribute='severity') | unique | sort | join(',')`, 'high,low'],
    [`${list} | selectattr('line') | sum(attribute='line')`, 23],
    [`${list} | selectattr('line') | map(attribute='line') | max`, 12],
    [`(${list} | selectattr('line') | min(attribute='line')).id`, 'b'],
    [`${list} | map(attribute='line') | first`, 12],
    [`${list}[1] | tojson`, JSON.stringify(findings[1])],
    ['[3, 1, 2] | sort | tojson', '[1,2,3]'],
    ['[] | sum', 0],
    ['[] | max', undefined],
    ['[1, "a"] | sort', undefined],
    ['[1, "a"] | sum', undefined],
    ['trigger.missing | selectattr("x") | length', undefined],
    [`${list} | map(attribute='file') | select('glob', '**/auth/**') | length`, 3],
    [`${list} | map(attribute='file') | reject('glob', '**/auth/**') | unique | join(' ')`, 'README.md'],
    ['[0, 1, ""] | select | tojson', '[1]'],
    ['trigger.missing | select("glob", "**") | length', undefined],
    ['(trigger.missing | select("glob", "**") | length) == 0', false],
    ['trigger.title is string', true],
    ['trigger.number is string', false],
    ['trigger.number is number', true],
    ['trigger.missing is not number', true],
  ])('has the value that Jinja gives it: %s', (expression, expected) => {
    expect(compileExpression(expression).evaluate(about)).toEqual(expected);
  });

  test('leaves the list itself as it was', () => {
    const before = structuredClone(findings);
    compileExpression(`${list} | sort(attribute='id', reverse=true)`).evaluate(about);
    expect(findings).toEqual(before);
  });

  test.each([
    [
      "trigger.labels | map(atribute='id')",
      'the filter "map" has no argument "atribute": did you mean "attribute"?',
    ],
    [
      'trigger.labels | length(x=1)',
      'the filter "length" has no argument "x"; it takes its arguments without names',
    ],
    [
      "trigger.labels | selectattr('a', 'equalsto', 1)",
      '"equalsto" is not a known test: did you mean "equalto"?',
    ],
    ["trigger.labels | select('glob', 'src/{a')", 'this pattern cannot be used: a "{" has no "}"'],
    ['trigger.labels is mapping', 'after `is`, this is not known; allowed: defined, none, string, number'],
  ])('is refused with the reason: %s', (expression, reason) => {
    expect(() => compileExpression(expression)).toThrow(reason);
  });
});

describe('three-valued logic', () => {
  test.each([
    ['not trigger.missing', undefined],
    ['not trigger.nil', undefined],
    ['not not trigger.missing', undefined],
    ['not (trigger.missing or trigger.draft)', undefined],
    ['not (trigger.draft or trigger.missing)', undefined],
    ['not (trigger.missing and true)', undefined],
    ['not (true and trigger.missing)', undefined],
    ['not (trigger.missing < 3)', undefined],
    ['not (1 in trigger.missing)', undefined],
    ['not (trigger.draft and trigger.missing)', true],
    ['trigger.missing or true', true],
  ])('never makes null true: %s', (expression, expected) => {
    expect(compileExpression(expression).evaluate(context)).toBe(expected);
  });
});

describe('the references of an expression', () => {
  test('include every path, as far as it is written out, with its place', () => {
    const { references } = compileExpression(
      '{{ steps[0].outcome.passed and trigger[repo.key].x or ["a", trigger.b|default(steps["a-b"].status)] }}',
    );
    expect(references).toEqual([
      { root: 'steps', path: [0, 'outcome', 'passed'], offset: 3 },
      { root: 'trigger', path: [], offset: 31 },
      { root: 'repo', path: ['key'], offset: 39 },
      { root: 'trigger', path: ['b'], offset: 60 },
      { root: 'steps', path: ['a-b', 'status'], offset: 78 },
    ]);
  });

  test('have their place in an expression without {{ }} too', () => {
    expect(compileExpression('1 == trigger.a').references).toEqual([
      { root: 'trigger', path: ['a'], offset: 5 },
    ]);
  });
});

describe('an error in an expression', () => {
  test.each([
    ['{{ trigger.a ! }}', 13],
    ['trigger.a !', 10],
    ['trigger.a\n  | lenght', 14],
    ['trigger.a and globals.b', 14],
    ['{{ a() }}', 4],
  ])('is reported at its place: %j at %i', (expression, offset) => {
    expect(() => compileExpression(expression)).toThrow(
      expect.objectContaining({ code: 'bad_expression', offset }),
    );
  });
});
