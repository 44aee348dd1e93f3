import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import { explain, explainText, plainLine } from '../../src/domain/run/explain.ts';
import { STEP_STATUSES } from '../../src/domain/run/run.ts';
import {
  done,
  ends,
  finding,
  makeApproval,
  makeCi,
  makeReview,
  makeState,
  mergedOutcome,
} from './builders.ts';
import { SCENES } from './scenes.ts';

describe('explain', () => {
  it('considers only the steps on the way to the merge', () => {
    const { state, approval } = SCENES.merged ?? { state: makeState({}), approval: null };
    const broken = state.invocations.map((step) =>
      step.stepId === 'changes' ? { ...step, ...ends('failed', reason('step.failed.error', 'no')) } : step,
    );
    expect(explain({ ...state, invocations: broken }, approval)).toEqual(explain(state, approval));
  });

  it('explains a chain that merges nothing by all of its steps', () => {
    const state = makeState(
      { status: 'completed', reason: reason('run.completed', 'every step is done') },
      { review: done(makeReview()) },
    );
    const steps = state.run.definition.steps.slice(0, 1);
    const alone = {
      run: { ...state.run, definition: { ...state.run.definition, steps } },
      invocations: state.invocations.slice(0, 1),
    };
    expect(explain(alone, null)).toMatchObject({
      status: 'met',
      summary: 'every step is done; this chain merges nothing',
    });
  });

  it('is met only when the merge is done, whatever failures were tolerated', () => {
    const statuses = fc.constantFrom(...STEP_STATUSES);
    const passed = fc.constantFrom(true, false, null);
    fc.assert(
      fc.property(statuses, passed, statuses, statuses, passed, (review, approves, ci, merge, merged) => {
        const state = makeState(
          {},
          {
            review: { ...done(makeReview({ passed: approves })), status: review },
            ci: { ...done(makeCi([])), status: ci },
            merge: { ...done({ ...mergedOutcome, passed: merged }), status: merge },
          },
        );
        const { status, summary } = explain(state, makeApproval({ decision: criterion('met', 'go') }));
        const isMerged = merge === 'completed' && merged === true;
        expect({ isMet: status === 'met', isSaid: summary === mergedOutcome.summary }).toEqual({
          isMet: isMerged,
          isSaid: isMerged,
        });
      }),
    );
  });

  it('does not blame a merge that was skipped because another step of the chain merges', () => {
    const state = makeState(
      {},
      {
        review: done(makeReview()),
        ci: done(makeCi([])),
        merge: ends('skipped', reason('step.skipped.condition', 'the pull request changes a migration')),
      },
    );
    const { steps } = state.run.definition;
    const other = { ...steps[2], id: 'merge-migration' } as (typeof steps)[number];
    const two = {
      run: { ...state.run, definition: { ...state.run.definition, steps: [...steps, other] } },
      invocations: [
        ...state.invocations,
        {
          ...state.invocations[2],
          id: 'inv_other',
          stepId: other.id,
          stepIndex: steps.length,
          status: 'waiting_approval',
          reason: null,
        },
      ] as typeof state.invocations,
    };
    const { status, summary, reasons } = explain(two, null);
    expect([status, summary]).toEqual([
      'pending',
      'not merging yet: merge-migration waits for a countersign',
    ]);
    expect(reasons).toContainEqual(
      criterion(
        'met',
        'merge was skipped because the pull request changes a migration; merge-migration merges instead',
      ),
    );
    expect(explain(state, null).status).toBe('unmet');
  });

  it('calls a missing outcome unknown, never met', () => {
    const state = makeState({}, { review: { status: 'completed' } });
    expect(explain(state, null).reasons[0]).toMatchObject({ status: 'unknown' });
  });

  it('names the first cause, not the steps that were skipped because of it', () => {
    const { state, approval } = SCENES['review incomplete'] ?? { state: makeState({}), approval: null };
    expect(explain(state, approval).summary).toMatch(/^not merged: review: .*oxlint timed out/);
  });

  it('lists the worst findings first and counts those it leaves out', () => {
    const findings = [finding({ severity: 'high' }), ...Array.from({ length: 30 }, () => finding())];
    const review = makeReview({ findings, passed: false, verdict: 'REQUEST_CHANGES' });
    const [step] = explain(makeState({}, { review: done(review) }), null).reasons;
    expect(step?.reasons).toHaveLength(21);
    expect(step?.reasons[0]?.summary).toMatch(/^critical: /);
    expect(step?.reasons.at(-1)).toEqual(criterion('unmet', 'and 11 more findings'));
  });

  it('ignores the decision about another step’s approval', () => {
    const state = makeState({}, { merge: { status: 'waiting_approval' } });
    const other = makeApproval({
      invocationId: 'inv_other',
      decision: criterion('unmet', 'not merging: no'),
    });
    expect(explain(state, other).reasons.at(-1)).toEqual(
      criterion('pending', 'merge waits for a countersign'),
    );
  });

  it('gives the same answer to the same facts', () => {
    for (const { state, approval } of Object.values(SCENES)) {
      expect(explain(state, approval)).toEqual(explain(structuredClone(state), structuredClone(approval)));
    }
  });
});

describe('explainText', () => {
  it('draws the tree with one line per reason', () => {
    const tree = criterion('unmet', 'not merging: b', [
      criterion('met', 'a'),
      criterion('unmet', 'b', [criterion('pending', 'c', [], ['x', 'y'])]),
      criterion('unknown', 'd'),
    ]);
    expect(explainText(tree)).toMatchInlineSnapshot(`
      "✘ not merging: b
        ✔ a
        ✘ b
          … c (x, y)
        ? d"
    `);
  });
});

describe('plainLine', () => {
  it('removes everything that would control a terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainLine(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
      }),
    );
  });

  it('keeps ordinary text unchanged', () => {
    expect(plainLine('Grüße, 世界 🚀: a/b.ts:12')).toBe('Grüße, 世界 🚀: a/b.ts:12');
  });
});
