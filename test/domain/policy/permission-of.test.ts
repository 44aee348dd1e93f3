// @module-tag security

import { expect, test } from 'vitest';
import type { FailurePolicy } from '../../../src/domain/gate/gate.ts';
import type { PlacedGate } from '../../../src/domain/gate/placed.ts';
import { notJudged, permissionOf, verdictOf } from '../../../src/domain/policy/gate/verdict.ts';

const placed = (on_failure: FailurePolicy): PlacedGate => ({
  gate: { kind: 'skill', id: 'guard', skill: 'ci', on_failure },
  scope: 'organisation',
  at: 'pre',
});

function permission(policy: FailurePolicy, passed: boolean, step: string): string {
  const criterion = { id: 'a', description: 'small', passed, evidence: '', may_change: false };
  const verdict = verdictOf(placed(policy), 'say', [criterion], 'sha256:0');
  return permissionOf(verdict, {
    irreversible: step.includes('merge'),
    countersigned: step.includes('countersigned'),
  }).status;
}

const POLICIES: FailurePolicy[] = ['block', 'warn', 'degrade', 'require_human'];

test.each(POLICIES)('a passed gate with on_failure: %s allows the step', (policy) => {
  expect(permission(policy, true, 'step')).toBe('met');
});

test.each([
  ['block', 'countersigned step', 'unmet'],
  ['warn', 'merge', 'met'],
  ['degrade', 'step', 'met'],
  ['degrade', 'countersigned merge', 'unmet'],
  ['require_human', 'step', 'pending'],
  ['require_human', 'countersigned step', 'met'],
] as const)('a failed gate with on_failure: %s makes a %s %s', (policy, step, status) => {
  expect(permission(policy, false, step)).toBe(status);
});

test('a gate without a verdict is unknown', () => {
  expect(notJudged(placed('warn'))).toMatchObject({
    status: 'unknown',
    summary: 'gate guard (organisation) before the step is unknown until the step runs',
  });
});
