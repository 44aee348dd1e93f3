// @module-tag security

import { describe, expect, test } from 'vitest';
import { reason } from '../../../src/domain/explanation/reason.ts';
import type { FailurePolicy } from '../../../src/domain/gate/gate.ts';
import type { PlacedGate } from '../../../src/domain/gate/placed.ts';
import { makeOutcome } from '../../../src/domain/outcome/outcome.ts';
import { type GateContext, judgeGates } from '../../../src/engine/gates/judge-gates.ts';
import type { StepHandler, StepResult } from '../../../src/engine/steps/step.ts';
import { GitHubError } from '../../../src/ports/github.ts';
import { at } from '../../support/builders.ts';
import { stepContext } from '../../support/step-context.ts';

const gate = (policy: FailurePolicy = 'warn'): PlacedGate => ({
  gate: { kind: 'skill', id: 'guard', skill: 'look', on_failure: policy },
  scope: 'step',
  at: 'pre',
});
const outcome = (passed: boolean | null) =>
  makeOutcome<'action_result'>({
    outcome_kind: 'action_result',
    summary: 'looked',
    passed,
    action: 'look',
    details: {},
  });

function skill(run: () => Promise<StepResult>, more: Partial<StepHandler> = {}) {
  let times = 0;
  const handler: StepHandler = {
    name: 'look',
    capability: { name: 'look', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    run: () => {
      times += 1;
      return run();
    },
    ...more,
  };
  return { skillOf: () => handler, times: () => times };
}

/** The next poll of the same run, when the verdict of this one is recorded. */
function next({ state, judged }: GateContext): GateContext {
  const verdicts = judged.filter((one) => one.outcome_kind === 'gate_verdict');
  return { ...stepContext('id: a, action: gh-label'), state: { ...state, verdicts } };
}

const done = (passed: boolean | null) => skill(async () => ({ kind: 'done', outcome: outcome(passed) }));

describe('a skill as a gate', () => {
  test.each([
    [true, true],
    [false, false],
    [null, false],
  ])('with the outcome %s: %s', async (passed, expected) => {
    const context = stepContext('id: a, action: gh-label');
    const [verdict] = await judgeGates(context, [gate()], done(passed).skillOf);
    expect(verdict?.gate_passed).toBe(expected);
    expect(context.judged.map(({ outcome_kind }) => outcome_kind)).toEqual(['action_result', 'gate_verdict']);
  });

  test('runs once for a head, and its verdict is written once', async () => {
    const { skillOf, times } = done(true);
    const first = stepContext('id: a, action: gh-label');
    await judgeGates(first, [gate()], skillOf);
    const second = next(first);
    expect((await judgeGates(second, [gate()], skillOf))[0]?.gate_passed).toBe(true);
    expect([times(), second.judged]).toEqual([1, []]);
  });

  test('whose answer can change runs at every poll, and its verdict is written when it changed', async () => {
    const volatile = skill(async () => ({ kind: 'done', outcome: outcome(true) }), {
      refresh: async () => outcome(true),
    });
    const first = stepContext('id: a, action: gh-label');
    await judgeGates(first, [gate()], volatile.skillOf);
    const second = next(first);
    await judgeGates(second, [gate()], volatile.skillOf);
    expect([volatile.times(), second.judged]).toEqual([2, []]);
  });

  test('that waits has not passed yet, and is asked again', async () => {
    const because = reason('step.waiting.ci', 'still at work');
    const waiting = skill(async () => ({ kind: 'waits', for: 'ci', until: at(1), reason: because }));
    const first = stepContext('id: a, action: gh-label');
    const [verdict] = await judgeGates(first, [gate()], waiting.skillOf);
    expect(verdict).toMatchObject({
      gate_passed: false,
      criteria: [{ may_change: true, evidence: 'still at work' }],
    });
    await judgeGates(next(first), [gate()], waiting.skillOf);
    expect(waiting.times()).toBe(2);
  });
});

describe('a gate that throws', () => {
  test.each([
    ['an error', () => skill(() => Promise.reject(new Error('secret path /srv/x'))).skillOf],
    ['because its skill is gone', () => () => undefined],
  ])('%s blocks, whatever its policy, and the gates beside it are still judged', async (_, skillOf) => {
    const context = stepContext('id: a, action: gh-label');
    const other: PlacedGate = {
      gate: {
        kind: 'criteria',
        id: 'other',
        on_failure: 'block',
        criteria: [{ kind: 'expression', id: 'it', if: 'true' }],
      },
      scope: 'step',
      at: 'pre',
    };
    const verdicts = await judgeGates(context, [gate('warn'), other], skillOf());
    expect(verdicts.map(({ gate_passed, on_failure }) => [gate_passed, on_failure])).toEqual([
      [false, 'block'],
      [true, 'block'],
    ]);
    expect(JSON.stringify(verdicts)).not.toContain('/srv/x');
  });

  test('blocks if its facts cannot be read because of our own error', async () => {
    const context = stepContext('id: a, action: gh-label');
    const criteria = [{ kind: 'expression' as const, id: 'it', if: 'true or pr.draft' }];
    const asks: PlacedGate = {
      ...gate(),
      gate: { kind: 'criteria', id: 'g', on_failure: 'warn', criteria },
    };
    const [verdict] = await judgeGates(context, [asks], () => undefined);
    expect(verdict).toMatchObject({ gate_passed: false, on_failure: 'block' });
  });

  test('because of a passing failure of GitHub has no verdict: the poll is retried', async () => {
    const away = skill(() => Promise.reject(new GitHubError('unavailable', 502, 'away')));
    const context = stepContext('id: a, action: gh-label');
    await expect(judgeGates(context, [gate()], away.skillOf)).rejects.toThrow('away');
    expect(context.judged).toEqual([]);
  });
});
