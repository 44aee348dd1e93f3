import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/outcome/finding.ts';
import { fingerprint } from '../../../../src/domain/outcome/fingerprint.ts';
import type { AnalyzerReport } from '../../../../src/domain/outcome/review-verdict.ts';
import { findingsBeside } from '../../../../src/skills/builtin/review/one-file.ts';
import type { RoundFacts } from '../../../../src/skills/builtin/review/since.ts';
import { seed } from '../../../domain/rule/seed.ts';
import { finding } from './support.ts';

const analyzer = (name: string, status: AnalyzerReport['status'] = 'ok'): AnalyzerReport => ({
  name,
  version: '1',
  status,
  files: 1,
  duration_ms: 1,
});
const lint = (file: string, evidence: string, more: Partial<Finding> = {}) =>
  finding({ file, evidence, rule: 'oxlint/no-eval', ...more });
const now = (findings: Finding[], more: Partial<RoundFacts> = {}): RoundFacts => ({
  findings,
  analyzers: [analyzer('oxlint')],
  present: new Set(['a.ts', 'b.ts']),
  unread: new Set(),
  ...more,
});
const shown = (findings: Finding[]) =>
  findings.map(({ file, evidence, severity }) => `${file} ${evidence} ${severity}`);

describe('a finding of the last review', () => {
  it('of another file stays although nothing reports it any more', () => {
    const rest = { findings: [lint('b.ts', 'eval(x)', { severity: 'high' })] };
    expect(shown(findingsBeside(rest, 'a.ts', now([])))).toEqual(['b.ts eval(x) high']);
  });

  it('of another file keeps its severity if it is reported as less severe', () => {
    const rest = { findings: [lint('b.ts', 'eval(x)', { severity: 'high' })] };
    const less = now([lint('b.ts', 'eval(x)', { severity: 'low' })]);
    expect(shown(findingsBeside(rest, 'a.ts', less))).toEqual(['b.ts eval(x) high']);
  });

  it('of another file stays if people accepted it, to be judged again', () => {
    const by = { id: 1, login: 'mia' };
    const accepted = [
      { finding: lint('b.ts', 'eval(x)', { severity: 'high' }), by, because: 'fine', at: '' },
    ];
    expect(shown(findingsBeside({ findings: [], accepted }, 'a.ts', now([])))).toEqual(['b.ts eval(x) high']);
  });

  it('of the file is gone if its analyzer does not report it any more', () => {
    const rest = { findings: [lint('a.ts', 'eval(x)')] };
    expect(findingsBeside(rest, 'a.ts', now([]))).toEqual([]);
  });

  it.each<[string, Partial<RoundFacts>]>([
    ['its analyzer crashed', { analyzers: [analyzer('oxlint', 'crashed')] }],
    ['nobody asked its analyzer', { analyzers: [] }],
    ['the file could not be read', { unread: new Set(['a.ts']) }],
  ])('of the file stays if %s', (_, more) => {
    const rest = { findings: [lint('a.ts', 'eval(x)', { severity: 'high' })] };
    expect(shown(findingsBeside(rest, 'a.ts', now([], more)))).toEqual(['a.ts eval(x) high']);
  });
});

it('what is found now in another file counts, too, and once', () => {
  const rest = { findings: [lint('b.ts', 'eval(x)')] };
  const findings = findingsBeside(rest, 'a.ts', now([lint('b.ts', 'eval(x)'), lint('b.ts', 'eval(y)')]));
  expect(findings.map(({ evidence }) => evidence)).toEqual(['eval(x)', 'eval(y)']);
});

it('no review of one file loses a finding of another, or makes it less severe', () => {
  const some = fc.array(
    fc
      .record({
        file: fc.constantFrom('a.ts', 'b.ts'),
        evidence: fc.constantFrom('eval(x)', 'eval(y)'),
        severity: fc.constantFrom<Finding['severity'][]>('critical', 'medium', 'info'),
      })
      .map((more) => finding({ rule: 'oxlint/no-eval', ...more })),
    { maxLength: 6 },
  );
  const worst = (findings: readonly Finding[]) =>
    findings.filter(({ severity }) => severity === 'critical').length;
  const ofOther = (findings: readonly Finding[]) => findings.filter(({ file }) => file === 'b.ts');
  fc.assert(
    fc.property(some, some, (before, after) => {
      const findings = findingsBeside({ findings: before }, 'a.ts', now(after));
      for (const list of Map.groupBy(ofOther(before), fingerprint).values()) {
        const same = findings.filter((one) => fingerprint(one) === fingerprint(list[0] as Finding));
        expect(same.length).toBeGreaterThanOrEqual(list.length);
      }
      expect(worst(ofOther(findings))).toBeGreaterThanOrEqual(worst(ofOther(before)));
      // Of the file itself, only what is found now counts.
      const own = (list: readonly Finding[]) => shown(list.filter(({ file }) => file === 'a.ts')).toSorted();
      expect(own(findings)).toEqual(own(after));
    }),
    { seed },
  );
});
