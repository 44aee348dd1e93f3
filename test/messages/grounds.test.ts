import { describe, expect, it } from 'vitest';

import { verdictOf } from '../../src/domain/policy/gate/verdict.ts';
import { grounds } from '../../src/messages/comments/grounds.ts';
import { check, done, finding, makeCi, makeReview, makeState } from './builders.ts';

const risk = (severity: 'critical' | 'high' | 'medium' | 'low' | 'info', description: string) =>
  finding({ severity, description, file: `${description}.ts`, line: 3 });

describe('the reasons in an approval comment', () => {
  it('name the three worst risks of all steps, and count the others', () => {
    const findings = [risk('low', 'one'), risk('low', 'two'), risk('low', 'three'), risk('info', 'remark')];
    const ci = makeCi([check('e2e', { state: 'failed', conclusion: 'failure', required: true })]);
    const state = makeState({}, { review: done(makeReview({ findings })), ci: done(ci) });
    expect(`\n${grounds(state)}`).toMatchInlineSnapshot(`
      "
      - ✅ **Review:** approved: no findings in 3 files
      - ❌ **CI:** 1 of 1 checks failed: e2e
      - ⚠️ **Risks:** 4 are known, the worst first
        - 🟠 The check e2e ended with failure.
        - 🔵 \`one.ts:3\` One.
        - 🔵 \`two.ts:3\` Two.
        - … and 1 more, in the check run"
    `);
  });

  it('count the risks that did not fit into the run’s memory', () => {
    const findings = Array.from({ length: 60 }, () => risk('medium', 'same'));
    expect(grounds(makeState({}, { review: done(makeReview({ findings })) }))).toContain(
      '- ⚠️ **Risks:** 60 are known, the worst first\n',
    );
  });

  it('say that a review has no verdict, and why', () => {
    const review = makeReview({
      verdict: null,
      passed: null,
      left_out: [
        { path: 'a.ts', reason: 'too large' },
        { path: 'b.ts', reason: 'too large' },
      ],
    });
    expect(grounds(makeState({}, { review: done(review) }))).toBe(
      '- ⚪ **Review:** no verdict: a.ts was not reviewed: too large, and 1 other thing',
    );
  });

  it('distinguish two reviews by their steps, and show what a gate decided', () => {
    const gate = verdictOf(
      {
        gate: { kind: 'skill', id: 'on-call', skill: 'ci', on_failure: 'block' },
        scope: 'step',
        at: 'pre',
      },
      'merge',
      [{ id: 'it', description: 'somebody is on call', passed: false, evidence: '', may_change: true }],
      'sha256:0',
    );
    const state = makeState({}, { review: done(makeReview()), ci: done(makeReview({ summary: 'Well.' })) });
    expect(grounds({ ...state, verdicts: [gate] }).split('\n')).toEqual([
      '- ✅ **Review `review`:** approved: no findings in 3 files',
      '- ✅ **Review `ci`:** approved: well',
      '- ❌ **Gate on-call:** not passed: somebody is on call',
    ]);
  });

  it('say that nothing was checked when nothing was', () => {
    expect(grounds(makeState({}))).toBe('This chain has no review and no CI.');
  });
});
