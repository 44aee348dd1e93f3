import { expect, test } from 'vitest';
import { ANALYZERS, versionOf } from '../../src/analyzers/analyzers.ts';
import { shippedRules } from '../../src/analyzers/rules.ts';
import { added, review } from './support.ts';

const book = shippedRules();
const all = Object.entries(book).flatMap(([analyzer, { rules }]) =>
  Object.entries(rules).map(([name, rule]) => ({ name: `${analyzer}/${name}`, rule })),
);

test.each(all)('$name is described in one sentence with one request', ({ rule }) => {
  expect(rule.description).toMatch(/^[A-Z`/_%'].*\.$/);
  expect(rule.suggestion).toMatch(/^[A-Z].*\.$/);
});

test('a severity for test code is always lower than the usual one', () => {
  const order = ['critical', 'high', 'medium', 'low', 'info'];
  for (const { name, rule } of all) {
    if (rule.severity_in_tests === undefined) continue;
    expect(order.indexOf(rule.severity_in_tests), name).toBeGreaterThan(order.indexOf(rule.severity));
  }
});

test('oxlint, ruff and ast-grep know every rule that the files name', { tags: 'slow' }, async () => {
  const files = [added('a.ts', 'export {};\n'), added('a.tsx', ''), added('a.js', ''), added('a.py', '')];
  const report = await review(files, { analyzers: ['oxlint', 'ruff', 'ast-grep'] });
  expect(report.analyzers.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'oxlint ok',
    'ruff ok',
    'ast-grep ok',
  ]);
});

test.each(Object.entries(book.secrets.rules).filter(([, { pattern }]) => pattern !== undefined))(
  'the pattern %s marks which part is the secret',
  (_, { pattern = '' }) => {
    expect(pattern).toContain('(?<value>');
  },
);

test('every analyzer has a pinned version', () => {
  for (const { name } of Object.values(ANALYZERS)) expect(versionOf(name)).toMatch(/^\d+\.\d+\.\d+$/);
});
