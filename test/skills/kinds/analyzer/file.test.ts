import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ANALYZERS } from '../../../../src/analyzers/analyzers.ts';
import { shippedRules } from '../../../../src/analyzers/rules.ts';
import {
  analyzerDiagnostics,
  analyzerFileSchema,
  type RunFile,
  readAnalyzerFile,
} from '../../../../src/domain/skill/analyzer-file.ts';
import { OWN_ANALYZERS, RULES } from '../../../../src/domain/skill/analyzer-rules.ts';
import { configureAnalyzer } from '../../../../src/skills/kinds/analyzer/configured.ts';
import { OWN_SPECS } from '../../../../src/skills/kinds/analyzer/own-analyzers.ts';

const FILE = 'analyzers/a.yml';
const NOTHING = { before: new Map<string, string>(), tree: undefined };

const diagnostics = (text: string) =>
  analyzerDiagnostics(text, FILE).map(({ line, column, message }) => `${line}:${column} ${message}`);

function read(text: string): RunFile {
  const { value, diagnostics } = readAnalyzerFile(text, FILE);
  if (!value) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  if (value.analyzer === 'sarif') throw new Error('a report is not run');
  return value;
}

const rules = (text: string) =>
  Object.entries(configureAnalyzer(read(text), 'a').analyzer(NOTHING).rules).map(
    ([name, { severity }]) => `${name} ${severity}`,
  );

test('the rules that a file can name are the rules that exist', () => {
  for (const [analyzer, { rules }] of Object.entries(ANALYZERS)) {
    const named: readonly string[] = RULES[analyzer as keyof typeof ANALYZERS];
    expect(named).toEqual(Object.keys(shippedRules()[rules].rules));
  }
  for (const own of OWN_ANALYZERS) expect(Object.keys(OWN_SPECS[own].rules)).toEqual([...RULES[own]]);
});

const OWN_RULES = OWN_ANALYZERS.flatMap((name) =>
  Object.entries(OWN_SPECS[name].rules).map(([rule, words]) => ({ name: `${name}/${rule}`, words })),
);

test.each(OWN_RULES)('$name is described in one sentence with one request', ({ words }) => {
  expect(words.description).toMatch(/^[A-Z`].*\.$/);
  expect(words.suggestion).toMatch(/^[A-Z`].*\.$/);
});

describe('the errors of a file', () => {
  test.each([
    ['rules: {}', ['1:1 "analyzer" is missing']],
    [
      'analyzer: oxlnt',
      ['1:11 "analyzer" cannot be "oxlnt": did you mean "oxlint"? Allowed: '.concat(analyzerNames())],
    ],
    [
      'analyzer: doc-links\nrules: { broken-lnk: off }',
      [
        '2:10 unknown key "broken-lnk": did you mean "broken-link"? Allowed: broken-link, broken-anchor, other-case',
      ],
    ],
    [
      'analyzer: doc-links\nrules:\n  broken-link: hgh',
      [
        '3:16 "broken-link" cannot be "hgh": did you mean "high"? Allowed: critical, high, medium, low, info, off',
      ],
    ],
    [
      'analyzer: doc-links\nown_rules: {}',
      ['2:1 unknown key "own_rules"; allowed: analyzer, paths, rules, others'],
    ],
    [
      'analyzer: doc-links\npaths: ["*a*b*c*d*e*f*g*h*i*"]\nothers: no',
      ['2:9 a pattern may have at most 8 wildcards', '3:9 "others" cannot be "no"; allowed: on, off'],
    ],
  ])('are reported with their place: %j', (text, expected) => {
    expect(diagnostics(text)).toEqual(expected);
  });

  const own = (lines: string) =>
    `analyzer: ast-grep\nown_rules:\n  mine:\n    severity: low\n    category: style\n    description: A.\n    suggestion: B.\n    languages: python\n${lines}`;

  test('are also reported in its own rules', () => {
    expect(diagnostics(own('    match: { pattern: "a" }'))).toEqual([]);
    expect(diagnostics(own('    match: {}'))).toEqual(['9:12 an empty match finds everything']);
    expect(diagnostics(own('    match: { has: { patern: a } }'))).toEqual([
      expect.stringMatching(/^9:21 unknown key "patern": did you mean "pattern"\?/),
    ]);
    expect(diagnostics(own('    match: { kind: a }').replace('mine', 'weak-hash'))).toEqual([
      '3:3 this is the name of a rule that ships; a rule of your own needs another',
    ]);
  });

  test('do not exist in a rule book, which no step runs', () => {
    expect(diagnostics('book: oxlint\nrules: { a: { b: c } }')).toEqual([]);
    expect(readAnalyzerFile('book: oxlint', FILE).value).toBeUndefined();
  });
});

describe('the rules that count', () => {
  test('are all of the analyzer, with the severities that the file gives them', () => {
    expect(rules('analyzer: doc-links')).toEqual([
      'broken-link medium',
      'broken-anchor low',
      'other-case medium',
    ]);
    expect(rules('analyzer: doc-links\nrules: { broken-link: high, other-case: off }')).toEqual([
      'broken-link high',
      'broken-anchor low',
    ]);
  });

  test('are only the named ones if the others are off', () => {
    expect(rules('analyzer: doc-links\nothers: off\nrules: { broken-link: info }')).toEqual([
      'broken-link info',
    ]);
    expect(rules('analyzer: doc-links\nothers: off')).toEqual([]);
  });
});

test.each([
  ['analyzer: doc-links', 'docs/a.md', true],
  ['analyzer: doc-links', 'docs/a.txt', false],
  ['analyzer: doc-links\npaths: docs/**', 'a.md', false],
  ['analyzer: sql-migrations', 'db/migrations/2026/1.sql', true],
  ['analyzer: sql-migrations', 'reports/1.sql', false],
  ['analyzer: sql-migrations\npaths: reports/**', 'reports/1.sql', true],
  ['analyzer: sql-migrations\npaths: "**"', 'src/a.ts', false],
  ['analyzer: dependencies', 'packages/a/package.json', true],
  ['analyzer: workflow-security', '.github/workflows/ci.yml', true],
  ['analyzer: workflow-security', 'docs/ci.yml', false],
  ['analyzer: ruff', 'a.py', true],
  ['analyzer: ruff\npaths: src/**', 'a.py', false],
  ['analyzer: secrets', 'anything', true],
])('the rule for %j covers %s: %s', (text, path, expected) => {
  expect(configureAnalyzer(read(text), 'a').concerns(path)).toBe(expected);
});

test('docs/skills.md shows a file without errors and mentions every key and analyzer', () => {
  const page = readFileSync(new URL('../../../../docs/skills.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```yaml analyzer\n([\s\S]*?)^```$/m.exec(page) ?? [];
  expect(shown).not.toBe('');
  expect(diagnostics(shown)).toEqual([]);
  const [, report = ''] = /^```yaml report\n([\s\S]*?)^```$/m.exec(page) ?? [];
  expect(readAnalyzerFile(report, FILE).value).toMatchObject({ analyzer: 'sarif' });
  const keys = analyzerFileSchema.options.flatMap(({ shape }) => Object.keys(shape));
  for (const word of [...keys, ...Object.keys(RULES)]) expect(page).toContain(`\`${word}\``);
});

test('docs/shipped-skills.md mentions every rule of our own analyzers', () => {
  const page = readFileSync(new URL('../../../../docs/shipped-skills.md', import.meta.url), 'utf8');
  for (const rule of OWN_ANALYZERS.flatMap((name) => RULES[name])) expect(page).toContain(`\`${rule}\``);
});

function analyzerNames(): string {
  return analyzerFileSchema.options.map(({ shape }) => shape.analyzer.value).join(', ');
}
