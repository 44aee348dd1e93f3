import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/canonical.ts';
import { outcomeOf } from '../../../src/skills/runtime/outcome-of.ts';

const known = {
  headSha: 'a'.repeat(40),
  round: 2,
  skill: 'naming',
  ownSchema: null,
  step: 'names',
  inputsHash: 'sha256:1',
};

const review = (more: Record<string, Json> = {}): Json => ({
  summary: 'Fine.',
  passed: true,
  verdict: 'APPROVE',
  findings: [],
  files_reviewed: 1,
  ...more,
});
const gate = (more: Record<string, Json> = {}): Json => ({
  summary: 'Fine.',
  passed: true,
  gate_passed: true,
  feedback: '',
  notes: [],
  criteria: [],
  blocking_reason: null,
  next_action: null,
  ...more,
});
const finding = {
  severity: 'high',
  category: 'security',
  file: 'a.ts',
  description: 'Bad.',
  suggestion: '',
  rule: 'x/y',
};
const because = (value: Json, kind: 'review_verdict' | 'gate_verdict') => {
  const made = outcomeOf(value, kind, known);
  return 'because' in made ? made.because : undefined;
};

test('a value becomes the outcome that the package declares, with a hash', () => {
  expect(outcomeOf(gate(), 'gate_verdict', known)).toMatchObject({
    outcome: { outcome_kind: 'gate_verdict', passed: true, content_hash: expect.stringMatching(/^sha256:/) },
  });
});

test('fields that the run knows are filled in, whatever the value says', () => {
  const value = review({ head_sha: 'b'.repeat(40), round: 9, content_hash: 'sha256:0' });
  expect(outcomeOf(value, 'review_verdict', known)).toMatchObject({
    outcome: { head_sha: known.headSha, round: 2, left_out: [], analyzers: [] },
  });
});

test('a value cannot say that somebody accepted a finding', () => {
  const accepted = [
    { finding, by: { id: 10, login: 'mia' }, because: 'intended', at: '2026-01-01T00:00:00Z' },
  ];
  const found = outcomeOf(review({ accepted }), 'review_verdict', known);
  expect('outcome' in found && 'accepted' in found.outcome).toBe(false);
  expect(found).toHaveProperty('outcome');
});

test('a gate’s verdict belongs to the skill, whatever gate of the chain the value names', () => {
  const value = gate({
    gate: 'tests',
    scope: 'organisation',
    step: 'merge',
    at: 'pre',
    inputs_hash: 'x',
    on_failure: 'warn',
  });
  expect(outcomeOf(value, 'gate_verdict', known)).toMatchObject({
    outcome: {
      gate: 'skill naming',
      scope: 'step',
      step: 'names',
      at: 'post',
      inputs_hash: 'sha256:1',
      on_failure: 'block',
    },
  });
});

test('fields that follow from others may be omitted', () => {
  const value = {
    summary: 'Too long.',
    passed: false,
    gate_passed: false,
    criteria: [{ id: 'a', description: '', passed: false, evidence: '' }],
  };
  expect(outcomeOf(value, 'gate_verdict', known)).toMatchObject({
    outcome: {
      feedback: 'Too long.',
      blocking_reason: 'Too long.',
      notes: [],
      criteria: [{ may_change: false }],
    },
  });
});

describe('no outcome is made of', () => {
  test.each<[string, Json, 'review_verdict' | 'gate_verdict', string]>([
    ['a text', 'APPROVE', 'gate_verdict', 'it is not an object'],
    ['a list', [gate()], 'gate_verdict', 'it is not an object'],
    ['nothing', null, 'gate_verdict', 'it is not an object'],
    ['half a value', { summary: 'Fine.', passed: true }, 'gate_verdict', 'gate_passed'],
    ['a value with an unknown member', gate({ merged: true }), 'gate_verdict', 'merged'],
    ['another outcome', gate({ outcome_kind: 'ci_result' }), 'gate_verdict', 'gave back a ci_result'],
    [
      'another outcome than declared',
      review({ outcome_kind: 'gate_verdict' }),
      'review_verdict',
      'gave back a gate_verdict',
    ],
    [
      'a path that leads outside',
      review({ findings: [{ ...finding, file: '../a' }] }),
      'review_verdict',
      'findings.0.file',
    ],
    ['an approval without a verdict', review({ verdict: null }), 'review_verdict', 'contradicts itself'],
    [
      'an approval of requested changes',
      review({ verdict: 'REQUEST_CHANGES' }),
      'review_verdict',
      'contradicts itself',
    ],
    ['a rejection that passed', review({ passed: null }), 'review_verdict', 'contradicts itself'],
    [
      'an approval despite a high finding',
      review({ findings: [finding] }),
      'review_verdict',
      'critical or high finding',
    ],
    ['a gate that both passed and did not', gate({ passed: false }), 'gate_verdict', 'contradicts itself'],
    ['a gate that passed without a verdict', gate({ passed: null }), 'gate_verdict', 'contradicts itself'],
    ['a gate that passed and is blocked', gate({ blocking_reason: 'late' }), 'gate_verdict', 'blocked'],
    [
      'a gate that passed with a criterion that failed',
      gate({ criteria: [{ id: 'tests', description: '', passed: false, evidence: '' }] }),
      'gate_verdict',
      'criterion tests',
    ],
  ])('%s', (_, value, kind, message) => {
    expect(because(value, kind)).toContain(message);
  });
});

test.each([
  ['APPROVE', true],
  ['APPROVE_WITH_SUGGESTIONS', true],
  ['REQUEST_CHANGES', false],
  ['REJECT', false],
  [null, null],
])('a review may say %s with passed %s', (verdict, passed) => {
  expect(because(review({ verdict, passed }), 'review_verdict')).toBeUndefined();
});
