// @module-tag security

import { expect, test } from 'vitest';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import type { PolicyEngine } from '../../../src/domain/policy/engine.ts';
import { permitted } from '../../../src/engine/gates/permission.ts';
import type { StepHandler } from '../../../src/engine/steps/step.ts';
import { actionOutcome } from '../../support/builders.ts';
import { stepContext } from '../../support/step-context.ts';

const outcome = actionOutcome('ci', 'done');
const skill: StepHandler = {
  name: 'ci',
  capability: { name: 'ci', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
  run: async () => ({ kind: 'done', outcome }),
  refresh: async () => outcome,
};
const policy = (verdict: 'allowed' | 'denied'): PolicyEngine => ({
  decide: () => ({ verdict, why: criterion(verdict === 'allowed' ? 'met' : 'unmet', 'there is a freeze') }),
});
const context = stepContext('id: a, action: gh-label');

test('a skill that the policy allows runs, and its outcome is read again', async () => {
  const allowed = permitted(skill, policy('allowed'));
  expect(await allowed.run(context)).toEqual({ kind: 'done', outcome });
  expect(await allowed.refresh?.(context)).toBe(outcome);
});

test('a skill that the policy denies does not run, and its older outcome does not count either', async () => {
  const denied = permitted(skill, policy('denied'));
  expect(await denied.run(context)).toMatchObject({
    kind: 'failed',
    reason: { code: 'gate.blocked.policy' },
  });
  await expect(denied.refresh?.(context)).rejects.toThrow('there is a freeze');
});

test('a skill whose outcome cannot change has nothing to read again', () => {
  const { refresh: _, ...lasting } = skill;
  expect(permitted(lasting, policy('allowed'))).not.toHaveProperty('refresh');
});
