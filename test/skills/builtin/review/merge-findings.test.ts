import { describe, expect, it, test } from 'vitest';
import type { Finding } from '../../../../src/domain/outcome/finding.ts';
import { mergeFindings } from '../../../../src/skills/builtin/review/merge-findings.ts';
import { finding } from './support.ts';

const analyzer = (more: Partial<Finding> = {}) =>
  finding({
    rule: 'ast-grep/sql-injection',
    category: 'injection',
    description: 'SQL is put together.',
    ...more,
  });
const model = (more: Partial<Finding> = {}) => {
  const category = more.category ?? 'security';
  return finding({
    rule: `model/${category}`,
    category,
    description: 'Anybody can read every order.',
    ...more,
  });
};
const short = (findings: readonly Finding[]) =>
  findings.map(({ severity, rule, file, line }) => `${severity} ${rule} ${file}:${line ?? ''}`);

describe('a finding of the model and one of an analyzer', () => {
  it.each<[string, string, Partial<Finding>, Partial<Finding>]>([
    ['on one line, of one category', 'one', {}, { category: 'injection' }],
    ['on one line, of one family', 'one', {}, { category: 'security' }],
    ['within the lines of the analyzer’s', 'one', { line: 2, end_line: 9 }, { line: 9 }],
    ['on another line', 'two', {}, { line: 3 }],
    ['in another file', 'two', {}, { file: 'src/b.ts' }],
    ['of another cause', 'two', {}, { category: 'error-handling' }],
  ])('%s are %s', (_, count, own, other) => {
    expect(mergeFindings([analyzer(own)], [model(other)])).toHaveLength(count === 'one' ? 1 : 2);
  });

  it('are two if the model’s is about the whole file', () => {
    const { line, ...whole } = model();
    expect(mergeFindings([analyzer()], [whole])).toHaveLength(2);
  });

  it('that are one keep the analyzer’s text if it is the worse', () => {
    expect(mergeFindings([analyzer({ severity: 'high' })], [model({ severity: 'low' })])).toEqual([
      analyzer(),
    ]);
  });

  it('that are one have the higher severity of both, and say whose it is', () => {
    expect(mergeFindings([analyzer({ severity: 'medium' })], [model({ severity: 'critical' })])).toEqual([
      analyzer({
        severity: 'critical',
        description: 'SQL is put together. A model weighs it as critical: Anybody can read every order.',
      }),
    ]);
  });
});

describe('two findings of the model', () => {
  it('on one line and in one category become one, the worse', () => {
    const two = [model({ severity: 'low' }), model({ severity: 'high', description: 'It is worse.' })];
    expect(mergeFindings([], two)).toEqual([two[1]]);
  });

  it('about a file become one if they differ only in case and punctuation', () => {
    const whole = (description: string) => {
      const { line, ...rest } = model({ description });
      return rest;
    };
    expect(mergeFindings([], [whole('No tests.'), whole('no TESTS')])).toHaveLength(1);
    expect(mergeFindings([], [whole('No tests.'), whole('No docs.')])).toHaveLength(2);
  });
});

test('no finding of an analyzer is removed or made less severe, whatever the model says', () => {
  const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
  for (const severity of severities) {
    for (const said of severities) {
      const own = [
        analyzer({ severity }),
        analyzer({ severity, line: 5, rule: 'secrets/github', category: 'secret' }),
      ];
      const merged = mergeFindings(own, [model({ severity: said }), model({ severity: said, line: 5 })]);
      for (const { rule, severity: before } of own) {
        const after = merged.find((one) => one.rule === rule);
        expect(severities.indexOf(after?.severity ?? 'info')).toBeLessThanOrEqual(severities.indexOf(before));
      }
    }
  }
});

test('the worst come first', () => {
  const merged = mergeFindings([analyzer({ severity: 'low' })], [model({ severity: 'critical', line: 7 })]);
  expect(short(merged)).toEqual([
    'critical model/security src/a.ts:7',
    'low ast-grep/sql-injection src/a.ts:2',
  ]);
});
