import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/outcome/finding.ts';
import { fingerprint } from '../../../../src/domain/outcome/fingerprint.ts';
import type { AnalyzerReport } from '../../../../src/domain/outcome/review-verdict.ts';
import { sinceWords } from '../../../../src/messages/cards/review.ts';
import { reviewCard } from '../../../../src/messages/cards/review-card.ts';
import { type RoundFacts, sinceEarlier } from '../../../../src/skills/builtin/review/since.ts';
import { makeReview } from '../../../messages/builders.ts';
import { finding } from './support.ts';

const analyzer = (name: string, status: AnalyzerReport['status'] = 'ok'): AnalyzerReport => ({
  name,
  version: '1',
  status,
  files: 1,
  duration_ms: 1,
});
const lint = (line: number, evidence: string, more: Partial<Finding> = {}) =>
  finding({ rule: 'oxlint/no-eval', line, evidence, ...more });
const now = (findings: Finding[], more: Partial<RoundFacts> = {}): RoundFacts => ({
  findings,
  analyzers: [analyzer('oxlint'), analyzer('model')],
  present: new Set(['src/a.ts', 'src/b.ts']),
  unread: new Set(),
  ...more,
});
const earlier = (findings: Finding[]) => makeReview({ round: 1, findings });
const fixed = (before: Finding[], after: RoundFacts) => sinceEarlier(earlier(before), after)?.fixed;

describe('a finding of an earlier round', () => {
  it('is recognised by file, rule and content, whatever its line is now', () => {
    expect(fingerprint(lint(2, 'eval(x)'))).toBe(
      fingerprint(lint(9, '  eval( x )', { description: 'Other words.' })),
    );
  });

  it.each<[string, Partial<Finding>]>([
    ['file', { file: 'src/b.ts' }],
    ['rule', { rule: 'oxlint/no-debugger' }],
    ['content', { evidence: 'eval(y)' }],
  ])('is another one with another %s', (_, more) => {
    expect(fingerprint(lint(2, 'eval(x)', more))).not.toBe(fingerprint(lint(2, 'eval(x)')));
  });

  it('of a model is recognised if the model names its cause with a word of the same family, and not of another', () => {
    const of = (category: Finding['category']) =>
      fingerprint(finding({ category, rule: `model/${category}`, evidence: 'run(x)' }));
    expect(of('injection')).toBe(of('security'));
    expect(of('correctness')).not.toBe(of('security'));
  });

  it('is fixed if nothing reports it any more', () => {
    expect(fixed([lint(2, 'eval(x)'), lint(3, 'eval(y)')], now([lint(9, 'eval(y)')]))).toBe(1);
  });

  it('is still there once if it was there twice and one of them is fixed', () => {
    expect(fixed([lint(2, 'eval(x)'), lint(3, 'eval(x)')], now([lint(2, 'eval(x)')]))).toBe(1);
  });

  it.each<[string, Partial<RoundFacts>, number]>([
    ['its analyzer crashed', { analyzers: [analyzer('oxlint', 'crashed')] }, 0],
    ['its analyzer did not run', { analyzers: [] }, 0],
    ['its file could not be read', { unread: new Set(['src/a.ts']) }, 0],
    ['its file is no longer changed', { analyzers: [], present: new Set() }, 1],
  ])('that is not reported because %s counts as fixed %#: %i', (_, more, count) => {
    expect(fixed([lint(2, 'eval(x)')], now([], more))).toBe(count);
  });

  it('of a model is not fixed by a model that gave no answer', () => {
    const silent = [analyzer('oxlint'), analyzer('model', 'no_answer')];
    expect(fixed([finding()], now([], { analyzers: silent }))).toBe(0);
  });

  it('is not mentioned if there was none', () => {
    expect(sinceEarlier(earlier([]), now([lint(2, 'eval(x)')]))).toBeUndefined();
  });

  it('is shown among the twenty worst that are fixed, and counted', () => {
    const many = Array.from({ length: 30 }, (_, n) => lint(n + 1, `eval(${n})`, { severity: 'low' }));
    const since = sinceEarlier(earlier([...many, lint(99, 'x', { severity: 'critical' })]), now([]));
    expect(since).toMatchObject({ round: 1, fixed: 31, still_open: 0 });
    expect(since?.fixed_findings).toHaveLength(20);
    expect(since?.fixed_findings[0]?.severity).toBe('critical');
  });
});

describe('the text for people', () => {
  const since = { round: 1, fixed: 2, still_open: 1, fixed_findings: [lint(2, 'eval(x)'), finding()] };

  it.each([
    [{ ...since, still_open: 0 }, '2 fixed since round 1'],
    [since, '2 fixed since round 1, 1 still open'],
    [{ ...since, fixed: 0, still_open: 1 }, '1 finding of round 1 still open'],
    [{ ...since, fixed: 0, still_open: 3 }, '3 findings of round 1 still open'],
  ])('says what became of the earlier round: %#', (given, words) => {
    expect(sinceWords(given)).toBe(words);
  });

  it('lists what was fixed, what failed and what else there is to know', () => {
    const review = makeReview({
      round: 2,
      verdict: null,
      passed: null,
      findings: [lint(2, 'eval(z)', { severity: 'low' })],
      since,
      analyzers: [
        analyzer('oxlint'),
        { ...analyzer('model', 'no_answer'), message: 'The model gave no whole answer in time.' },
      ],
      notes: ['A note for people.'],
    });
    expect(reviewCard(review, 'elsewhere').markdown).toMatchInlineSnapshot(`
      "### Review: no verdict, it is incomplete

      Round 2: 3 files reviewed at \`abc1234\`. 2 fixed since round 1, 1 still open.

      | 🔴 critical | 🟠 high | 🟡 medium | 🔵 low | ⚪ info |
      |---:|---:|---:|---:|---:|
      | 0 | 0 | 0 | 1 | 0 |

      By kind: correctness 1.

      <details><summary>1 suggestion: 1 low</summary>

      - 🔵 **low** · correctness · \`src/a.ts:2\`<br>
        It is wrong.<br>
        \`eval(z)\`<br>
        <sub>oxlint/no-eval · \`37578e59\`</sub>

      </details>

      <details><summary>2 fixed</summary>

      - ✅ \`src/a.ts\` It is wrong.
      - ✅ \`src/a.ts\` It is wrong.

      </details>

      #### Did not work

      - model gave no usable answer: The model gave no whole answer in time.

      <sub>Checked by oxlint 1, model 1.</sub>

      <sub>A note for people.</sub>"
    `);
  });

  it('shows nine findings in full, of both kinds together, and counts the rest', () => {
    const of = (count: number, severity: Finding['severity']) =>
      Array.from({ length: count }, (_, n) =>
        lint(n + 1, '', { severity, description: `It is ${severity} ${n}.` }),
      );
    const shown = (findings: Finding[]) => {
      const { markdown } = reviewCard(makeReview({ findings }), 'elsewhere');
      return [(markdown.match(/It is/g) ?? []).length, markdown.match(/… and \d+ more, elsewhere/g)];
    };
    expect(shown([...of(6, 'high'), ...of(7, 'low')])).toEqual([9, ['… and 4 more, elsewhere']]);
    expect(shown([...of(12, 'high'), ...of(4, 'low')])).toEqual([
      9,
      ['… and 3 more, elsewhere', '… and 4 more, elsewhere'],
    ]);
    expect(shown(of(9, 'high'))).toEqual([9, null]);
  });
});
