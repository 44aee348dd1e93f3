import { expect, test } from 'vitest';
import type { ApprovalContext } from '../../../src/engine/approvals/approval-context.ts';
import type { StepHandler, StepResult } from '../../../src/engine/steps/step.ts';
import { stepContext } from '../../support/step-context.ts';

const skill: Omit<StepHandler, 'run'> = {
  name: 'look',
  capability: { name: 'look', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
};
const superseded: StepResult = {
  kind: 'superseded',
  reason: { code: 'run.cancelled.superseded', summary: 'over', evidence: [] },
};

test('the compiler refuses a skill that uses what only approvals and merges get', async () => {
  const taking: StepHandler = {
    ...skill,
    // @ts-expect-error: a skill gets a StepContext, which cannot merge.
    run: async ({ merge }: ApprovalContext) => (merge ? superseded : superseded),
  };
  const refreshing: StepHandler = {
    ...skill,
    run: async () => superseded,
    // @ts-expect-error: the same applies when its outcome is read again.
    refresh: async ({ confirmMerge }: ApprovalContext) => (confirmMerge ? undefined : undefined),
  };
  expect(await taking.run(stepContext('id: a, action: gh-label'))).toBe(superseded);
  expect(await refreshing.refresh?.(stepContext('id: a, action: gh-label'))).toBeUndefined();
});

test('the compiler refuses a skill whose result is an answer of the maintainers', async () => {
  const answering: StepHandler = {
    ...skill,
    // @ts-expect-error: only approvals decide about an approval comment.
    run: async () => ({ ...superseded, approval: { status: 'countersigned' } }),
  };
  expect(await answering.run(stepContext('id: a, action: gh-label'))).toMatchObject({ kind: 'superseded' });
});
