import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AdmittedFile } from '../../src/analyzers/admit.ts';
import type { RawFinding } from '../../src/analyzers/analyzer.ts';
import { conclude } from '../../src/analyzers/findings.ts';
import { masker, shown } from '../../src/analyzers/mask.ts';
import type { Rule } from '../../src/analyzers/rules.ts';
import { verdictOf } from '../../src/analyzers/verdict.ts';
import type { ChangedLines } from '../../src/core/hunks.ts';
import { BLOCKING, findingSchema, SEVERITIES } from '../../src/domain/outcome/finding.ts';

const rule = (part: Partial<Rule> = {}): Rule => ({
  severity: 'medium',
  category: 'correctness',
  description: 'It is wrong.',
  suggestion: 'Fix it.',
  ...part,
});

const file = (changed: ChangedLines, part: Partial<AdmittedFile> = {}): AdmittedFile => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const base = { path: 'a.ts', name: '0001.ts', language: 'typescript', test: false } as const;
  return { ...base, text: lines.join('\n'), lines, changed, ...part };
};

const findingsOf = (...all: Parameters<typeof conclude>) => conclude(...all).findings;

const one = (raw: Partial<RawFinding>, changed: ChangedLines, rules: Record<string, Rule> = { r: rule() }) =>
  findingsOf(
    [file(changed)],
    [{ analyzer: 'x', rules, findings: [{ file: 0, rule: 'r', line: 1, ...raw }] }],
    (s) => s,
  );

describe('the place of a finding', () => {
  test('is the first changed line in its range', () => {
    expect(one({ line: 3, endLine: 9 }, new Set([5, 6, 8]))).toMatchObject([
      { line: 5, end_line: 6, evidence: 'line 5' },
    ]);
  });

  test('does not exist when no line of its range was changed', () => {
    expect(one({ line: 3, endLine: 9 }, new Set([2, 10]))).toEqual([]);
  });

  test('is another line of its cause when only that one was changed', () => {
    expect(one({ line: 3, alsoAt: [7, 12] }, new Set([12]))).toMatchObject([{ line: 12 }]);
  });

  test('is the first changed line when it is about the whole file, or its own line where lines were only removed', () => {
    const raw = { line: 3, wholeFile: true } as const;
    expect(one(raw, new Set([12, 7]))).toMatchObject([{ line: 7 }]);
    expect(one(raw, new Set())).toMatchObject([{ line: 3 }]);
  });

  test('is the last line for something that is missing after the last line feed', () => {
    const lines = ['one', 'two', ''];
    const found = { analyzer: 'x', rules: { r: rule() }, findings: [{ file: 0, rule: 'r', line: 3 }] };
    const place = (changed: ChangedLines) => findingsOf([file(changed, { lines })], [found], (s) => s);
    expect(place(new Set([2]))).toMatchObject([{ line: 2, evidence: 'two' }]);
    expect(place('all')).toMatchObject([{ line: 2 }]);
  });

  test('lies inside the file, whatever the analyzer says', () => {
    expect(one({ line: 900, endLine: 7 }, 'all')).toMatchObject([{ line: 20 }]);
  });
});

describe('a finding on lines that were there before', () => {
  const lines = ['function run(code) {', '  if (code) {', '    eval(code);', '  }', '}'];
  const severityOf = (patch: string, changed: number[], raw: Partial<RawFinding> = {}) => {
    const [found] = findingsOf(
      [file(new Set(changed), { lines, text: lines.join('\n'), patch })],
      [
        {
          analyzer: 'x',
          rules: { r: rule({ severity: 'high' }) },
          findings: [{ file: 0, rule: 'r', line: 3, ...raw }],
        },
      ],
      (s) => s,
    );
    return found?.severity;
  };
  const indented =
    '@@ -1,3 +1,5 @@\n function run(code) {\n-  eval(code);\n+  if (code) {\n+    eval(code);\n+  }\n }';

  test('is information when they were only indented', () => {
    expect(severityOf(indented, [2, 3, 4])).toBe('info');
  });

  test('is information when they were moved from elsewhere in the file', () => {
    const moved = '@@ -0,0 +2,3 @@\n+  if (code) {\n+    eval(code);\n+  }\n@@ -20 +22,0 @@\n-eval(code);';
    expect(severityOf(moved, [2, 3, 4])).toBe('info');
  });

  test('is information when a statement was only wrapped', () => {
    const wrapped = '@@ -2 +2,3 @@\n-  if (code) { eval(code); }\n+  if (code) {\n+    eval(code);\n+  }';
    expect(severityOf(wrapped, [2, 3, 4], { line: 2, endLine: 4 })).toBe('info');
  });

  test('says that it was there before', () => {
    const [found] = findingsOf(
      [file(new Set([2, 3, 4]), { lines, text: lines.join('\n'), patch: indented })],
      [{ analyzer: 'x', rules: { r: rule() }, findings: [{ file: 0, rule: 'r', line: 3 }] }],
      (s) => s,
    );
    expect(found?.description).toBe(
      'It is wrong. The same lines were in this file before the change, so this does not block it.',
    );
  });

  test('blocks when one character of them is new', () => {
    expect(severityOf(indented.replace('-  eval(code)', '-  eval(node)'), [2, 3, 4])).toBe('high');
  });

  test('blocks when another line on the way of the value is new', () => {
    expect(severityOf(indented, [2, 3, 4], { alsoAt: [2] })).toBe('high');
  });

  test('blocks when the same lines are kept elsewhere and are not removed', () => {
    const copied = '@@ -1,2 +1,4 @@\n eval(code);\n+  if (code) {\n+    eval(code);\n+  }';
    expect(severityOf(copied, [2, 3, 4])).toBe('high');
  });
});

describe('one finding per cause', () => {
  const places = (found: [analyzer: string, rules: Record<string, Rule>][]) =>
    findingsOf(
      [file('all')],
      found.map(([analyzer, rules]) => ({
        analyzer,
        rules,
        findings: Object.keys(rules).map((name) => ({ file: 0, rule: name, line: 4 })),
      })),
      undefined,
    ).map((finding) => finding.rule);

  test('keeps the worst of what two analyzers say about a line', () => {
    const weak = rule({ category: 'security' });
    const strong = rule({ category: 'injection', severity: 'critical' });
    expect(
      places([
        ['a', { weak }],
        ['b', { strong }],
      ]),
    ).toEqual(['b/strong']);
  });

  test('keeps both when they are about different things', () => {
    expect(
      places([
        ['a', { r: rule() }],
        ['b', { s: rule({ category: 'debugging' }) }],
      ]),
    ).toEqual(['a/r', 'b/s']);
  });

  test('keeps two rules of one analyzer', () => {
    expect(places([['a', { r: rule(), s: rule() }]])).toEqual(['a/r', 'a/s']);
  });

  test('keeps one secret of a line, by the rule that comes first', () => {
    const secret = rule({ category: 'secret' });
    expect(places([['a', { z: secret, b: secret }]])).toEqual(['a/z']);
  });

  test('keeps one finding for the lines of a secret', () => {
    const rules = {
      key: rule({ category: 'secret', severity: 'critical' }),
      part: rule({ category: 'secret' }),
    };
    const findings = [
      { file: 0, rule: 'part', line: 6 },
      { file: 0, rule: 'key', line: 4, endLine: 9 },
    ];
    expect(findingsOf([file('all')], [{ analyzer: 'a', rules, findings }], undefined)).toHaveLength(1);
  });
});

test('findings are valid, on changed lines only, and in one order, however they arrive', () => {
  const rules = Object.fromEntries(SEVERITIES.map((severity) => [severity, rule({ severity })]));
  const raw = fc.record({
    file: fc.nat(2),
    rule: fc.constantFrom(...SEVERITIES),
    line: fc.integer({ min: 1, max: 25 }),
  });
  const changedLines = fc.uniqueArray(fc.integer({ min: 1, max: 20 }));
  fc.assert(
    fc.property(fc.array(raw), changedLines, (findings, lines) => {
      const changed = new Set(lines);
      const files = ['b.ts', 'a.ts', 'c.ts'].map((path) => file(changed, { path }));
      const result = findingsOf(files, [{ analyzer: 'x', rules, findings }], (s) => s);
      expect(
        findingsOf(files, [{ analyzer: 'x', rules, findings: [...findings].reverse() }], (s) => s),
      ).toEqual(result);
      for (const finding of result) {
        findingSchema.parse(finding);
        expect(changed.has(finding.line ?? 0)).toBe(true);
      }
      const weights = result.map((finding) => SEVERITIES.indexOf(finding.severity));
      expect(weights).toEqual([...weights].sort((a, b) => a - b));
    }),
  );
});

test('a rule may have a lower severity in test code', () => {
  const rules = { r: rule({ severity: 'high', severity_in_tests: 'low' }) };
  const found = [{ analyzer: 'x', rules, findings: [{ file: 0, rule: 'r', line: 1 }] }];
  expect(findingsOf([file('all')], found, undefined)).toMatchObject([{ severity: 'high' }]);
  expect(findingsOf([file('all', { test: true })], found, undefined)).toMatchObject([{ severity: 'low' }]);
});

test("an analyzer's own text appears in the description, masked and harmless", () => {
  const rules = { r: rule({ description: 'Wrong ({message}).' }) };
  const findings = [{ file: 0, rule: 'r', line: 1, message: 'a $& \u202Esecret\n.' }];
  const [finding] = findingsOf([file('all')], [{ analyzer: 'x', rules, findings }], masker(['secret']));
  expect(finding?.description).toBe('Wrong (a $& ·s•••·).');
});

describe('hostile text in a finding', () => {
  test('is clipped and has no invisible characters', () => {
    expect(shown(`\u200B${'x'.repeat(300)}`)).toBe(`·${'x'.repeat(198)}…`);
  });

  test('never shows more than a quarter of a secret', () => {
    const secret = fc.stringMatching(/^[a-z0-9+/=]{6,40}$/);
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1 }), fc.string(), (secrets, between) => {
        const masked = masker(secrets)(secrets.join(between.replace(/[a-z0-9+/=]/g, ' ') || ' '));
        for (const value of secrets) expect(masked).not.toContain(value);
      }),
    );
  });
});

describe('the verdict', () => {
  const at = { headSha: 'a'.repeat(40), round: 1 };
  const ok = { name: 'oxlint', version: '1', status: 'ok', files: 2, duration_ms: 5 } as const;
  const of = (
    severities: readonly (typeof SEVERITIES)[number][],
    part: Partial<Parameters<typeof verdictOf>[0]> = {},
  ) =>
    verdictOf(
      {
        findings: severities.map((severity, index) => ({
          severity,
          category: 'correctness',
          file: 'a.ts',
          line: index + 1,
          description: 'It is wrong.',
          suggestion: 'Fix it.',
          rule: 'x/r',
        })),
        analyzers: [ok],
        leftOut: [],
        filesReviewed: 2,
        log: '',
        ...part,
      },
      at,
    );

  test.each([
    [[], 'APPROVE', 'No findings in 2 files.'],
    [['info'], 'APPROVE', '1 info finding in 2 files, and nothing that stands in the way of merging.'],
    [
      ['low', 'low'],
      'APPROVE_WITH_SUGGESTIONS',
      '2 low findings in 2 files, and nothing that stands in the way of merging.',
    ],
    [
      ['critical', 'critical', 'high', 'low', 'info'],
      'REQUEST_CHANGES',
      '2 critical and 1 high finding in 2 files must be fixed first; 1 low and 1 info finding can wait.',
    ],
    [['high'], 'REQUEST_CHANGES', '1 high finding in 2 files must be fixed first.'],
  ] as const)('of %j is %s', (severities, verdict, summary) => {
    expect(of(severities)).toMatchObject({ verdict, summary, passed: verdict !== 'REQUEST_CHANGES' });
  });

  test('is missing when an analyzer failed', () => {
    expect(of([], { analyzers: [{ ...ok, status: 'timed_out' }] })).toMatchObject({
      verdict: null,
      passed: null,
      summary: 'No findings in 2 files. The review is incomplete: oxlint timed out. So there is no verdict.',
    });
  });

  test('is missing when code was left out, but not when only data was', () => {
    const omission = { path: 'a "b".ts', reason: 'larger than 1 MB' };
    expect(of([], { leftOut: [{ ...omission, needed: true }] })).toMatchObject({
      verdict: null,
      left_out: [omission],
      summary:
        'No findings in 2 files. The review is incomplete: "a \\"b\\".ts" was not reviewed (larger than 1 MB). So there is no verdict.',
    });
    expect(of([], { leftOut: [{ ...omission, needed: false }] }).verdict).toBe('APPROVE');
  });

  test('passes exactly when nothing blocks and nothing is missing, and is never REJECT', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...SEVERITIES)),
        fc.boolean(),
        fc.boolean(),
        (severities, crashed, needed) => {
          const verdict = of(severities, {
            analyzers: [{ ...ok, status: crashed ? 'crashed' : 'ok' }],
            leftOut: [{ path: 'a', reason: 'b', needed }],
          });
          const blocked = severities.some((severity) => BLOCKING.has(severity));
          expect(verdict.passed).toBe(blocked ? false : crashed || needed ? null : true);
          expect(verdict.verdict).not.toBe('REJECT');
        },
      ),
    );
  });

  test('of a pull request without files says that there was nothing to review', () => {
    expect(of([], { filesReviewed: 0, analyzers: [] }).summary).toBe('There was nothing to review.');
  });
});
