import { describe, expect, test } from 'vitest';
import type { Step } from '../../../../src/domain/chain/chain.ts';
import { SLOTS, type Slot } from '../../../../src/domain/expression/state-slot.ts';
import { makeOutcome, type Outcome } from '../../../../src/domain/outcome/outcome.ts';
import {
  MAX_ENTRY_TEXT,
  MAX_SLOT_ENTRIES,
  MAX_STATE_BYTES,
} from '../../../../src/domain/run/state/limits.ts';
import { type Write, writesOf } from '../../../../src/domain/run/state/writes.ts';
import { check, finding, makeCi, makeReview } from '../../../messages/builders.ts';
import { actionOutcome, chainOfSteps, ciOutcome } from '../../../support/builders.ts';

/** A step as a run stores it, of a skill that fills all slots by default. */
function step(mapping: Step['outputMapping'] = undefined, produces: Slot[] = [...SLOTS]): Step {
  const [first] = chainOfSteps('id: look').steps;
  if (!first) throw new Error('a chain has a step');
  return { ...first, produces, ...(mapping ? { outputMapping: mapping } : {}) };
}

/** What is written, slot by slot. */
function slots(writes: readonly Write[]): Record<string, unknown> {
  return Object.fromEntries(writes.map(({ slot, entries }) => [slot, entries]));
}

const gate = makeOutcome<'gate_verdict'>({
  outcome_kind: 'gate_verdict',
  summary: 'one of two criteria is met',
  passed: false,
  gate: 'ready',
  scope: 'step',
  step: 'merge',
  at: 'pre',
  on_failure: 'block',
  inputs_hash: 'sha256:0',
  gate_passed: false,
  feedback: '',
  notes: ['asked again tomorrow'],
  criteria: [
    { id: 'small', description: 'it is small', passed: true, evidence: '3 files', may_change: false },
    { id: 'signed', description: 'it is signed', passed: false, evidence: '', may_change: true },
  ],
  blocking_reason: 'not signed',
  next_action: 'sign it',
});

describe('an outcome fills slots by its kind, without mapping code:', () => {
  const landings: [string, Outcome, Record<string, unknown>][] = [
    [
      'a review: analyzers are evidence, all findings but remarks are risks, worst first, and the verdict is a decision',
      makeReview({
        summary: '2 findings.',
        passed: false,
        verdict: 'REQUEST_CHANGES',
        findings: [
          finding({ severity: 'low', rule: 'oxlint/a', description: 'A habit.', line: undefined }),
          finding({ severity: 'info', description: 'A remark.', rule: 'oxlint/b' }),
          finding(),
        ],
        left_out: [{ path: 'big.bin', reason: 'binary' }],
        analyzers: [
          { name: 'oxlint', version: '1.0.0', status: 'ok', files: 3, duration_ms: 1 },
          { name: 'secrets', version: '1.0.0', status: 'ok', files: 1, duration_ms: 1 },
          { name: 'ruff', version: '1.0.0', status: 'ok', files: 2, duration_ms: 1 },
          { name: 'slow', version: '1.0.0', status: 'timed_out', files: 2, duration_ms: 1 },
        ],
      }),
      {
        evidence: [
          { text: 'oxlint: 2 findings in 3 files', supports: null },
          { text: 'secrets: 1 finding in 1 file', supports: false },
          { text: 'ruff: nothing found in 2 files', supports: true },
          { text: 'slow: no result', supports: null },
        ],
        risks: [
          {
            text: 'A cloud access key is written into the code.',
            severity: 'critical',
            file: 'src/config.ts',
            line: 12,
          },
          { text: 'A habit.', severity: 'low', file: 'src/config.ts', line: null },
        ],
        uncertainties: [{ text: 'slow timed out' }, { text: 'big.bin was not reviewed: binary' }],
        decisions: [{ text: '2 findings.', verdict: 'REQUEST_CHANGES', passed: false }],
      },
    ],
    [
      'a review without a verdict decides nothing',
      makeReview({ verdict: null, passed: null, analyzers: [] }),
      { evidence: [], risks: [], uncertainties: [], decisions: [] },
    ],
    [
      'CI: the whole and each check are evidence, and failures are risks',
      makeCi([check('lint', { state: 'failed', conclusion: 'failure', required: true }), check('e2e')]),
      {
        evidence: [
          { text: '1 of 2 checks failed: lint', supports: false },
          { text: 'lint: failure', supports: false },
          { text: 'e2e: success', supports: true },
        ],
        risks: [{ text: 'the check lint ended with failure', severity: 'high', file: null, line: null }],
        uncertainties: [],
      },
    ],
    [
      'CI without checks is uncertain, and supports neither side',
      ciOutcome(null, 'no checks ran'),
      {
        evidence: [{ text: 'no checks ran', supports: null }],
        risks: [],
        uncertainties: [{ text: 'no checks ran' }],
      },
    ],
    [
      'a gate: its criteria, its decision, and what to do next',
      gate,
      {
        criteria: [
          { text: 'it is small: 3 files', met: true },
          { text: 'it is signed', met: false },
        ],
        decisions: [{ text: 'one of two criteria is met', verdict: 'blocked', passed: false }],
        messages: [{ text: 'sign it' }, { text: 'asked again tomorrow' }],
      },
    ],
    ['an action: what it did', actionOutcome('gh-label', 'labelled'), { messages: [{ text: 'labelled' }] }],
  ];

  test.each(landings)('%s', (_, outcome, expected) => {
    expect(slots(writesOf(step(), outcome, 1))).toEqual(expected);
  });

  test('only the slots that the skill declares', () => {
    expect(Object.keys(slots(writesOf(step(undefined, ['risks']), ciOutcome(false), 1)))).toEqual(['risks']);
    expect(writesOf(step(undefined, []), ciOutcome(false), 1)).toEqual([]);
  });
});

describe('an output_mapping', () => {
  const outcome = makeReview({ findings: [finding()], summary: 'Seen.', round: 2 });
  const mapped = (mapping: Step['outputMapping'], of: Outcome = outcome) =>
    writesOf(step(mapping, ['evidence', 'risks']), of, 1);

  test('replaces what the skill would write into its slot, and leaves the other slots unchanged', () => {
    const { risks, evidence } = slots(mapped({ risks: "'only this'" }));
    expect(risks).toEqual([{ text: 'only this', severity: null, file: null, line: null }]);
    expect(evidence).toHaveLength(2);
  });

  test('can write slots that the skill does not', () => {
    expect(slots(mapped({ messages: 'outcome.summary' })).messages).toEqual([{ text: 'Seen.' }]);
  });

  test.each<[string, Slot, string, unknown]>([
    ['a text', 'entities', 'outcome.summary', [{ text: 'Seen.' }]],
    ['a number', 'entities', 'outcome.round', [{ text: '2' }]],
    ['a composed text', 'messages', "'round ' ~ outcome.round", [{ text: 'round 2' }]],
    [
      'a list of texts',
      'options',
      "['a', 'b']",
      [
        { text: 'a', chosen: null },
        { text: 'b', chosen: null },
      ],
    ],
    [
      'a mapping with the slot’s own shape',
      'hypotheses',
      "{text: 'it is dead code', holds: true}",
      [{ text: 'it is dead code', holds: true }],
    ],
    [
      'parts of the outcome, without their other members',
      'risks',
      '{{ outcome.findings }}',
      [
        {
          text: 'A cloud access key is written into the code.',
          severity: 'critical',
          file: 'src/config.ts',
          line: 12,
        },
      ],
    ],
    ['an empty list, which is written', 'uncertainties', 'outcome.left_out', []],
  ])('accepts %s', (_, slot, source, entries) => {
    expect(slots(mapped({ [slot]: source }))[slot]).toEqual(entries);
  });

  test.each([
    ['a list', "[['a']]"],
    ['a mapping without a sentence', "{severity: 'high'}"],
    ['an empty text', "''"],
    ['an unknown severity', "{text: 'x', severity: 'huge'}"],
    ['a line that is not a number', "{text: 'x', line: '12'}"],
  ])('counts what is not a valid entry, and does not guess: %s', (_, source) => {
    expect(mapped({ risks: `[${source}, 'fine']` })).toContainEqual(
      expect.objectContaining({
        slot: 'risks',
        unfit: 1,
        entries: [expect.objectContaining({ text: 'fine' })],
      }),
    );
  });

  test.each(['none', 'outcome.verdict', 'outcome.nothing'])(
    'without a value writes nothing: %s',
    (source) => {
      const undecided = makeReview({ verdict: null, passed: null });
      expect(slots(mapped({ risks: source }, undecided))).not.toHaveProperty('risks');
    },
  );
});

describe('the share of a step', () => {
  const many = (count: number) =>
    makeReview({ findings: Array.from({ length: count }, (_, index) => finding({ line: index + 1 })) });

  test.each([
    [1, 50],
    [4, 50],
    [10, 20],
    [50, 4],
  ])('of %i steps is %i entries in each slot, and what is cut is counted', (steps, entries) => {
    const risks = writesOf(step(), many(60), steps).find(({ slot }) => slot === 'risks');
    expect(risks).toMatchObject({ entries: { length: entries }, cut: 60 - entries });
    expect(steps * entries).toBeLessThanOrEqual(MAX_SLOT_ENTRIES);
  });

  test('keeps the first entries, so that the worst risks stay', () => {
    const findings = [...Array(60)].map((_, at) => finding({ severity: at === 59 ? 'critical' : 'low' }));
    const risks = writesOf(step(), makeReview({ findings }), 50).find(({ slot }) => slot === 'risks');
    expect(risks?.entries.map((risk) => 'severity' in risk && risk.severity)).toEqual([
      'critical',
      'low',
      'low',
      'low',
    ]);
  });

  test('shortens a long text without splitting a character, and says so', () => {
    const long = '🚀'.repeat(MAX_ENTRY_TEXT + 1);
    const [risk] = writesOf(step({ risks: 'outcome.summary' }), makeReview({ summary: long }), 1).filter(
      ({ slot }) => slot === 'risks',
    );
    expect(risk).toMatchObject({ shortened: 1, cut: 0 });
    expect(risk?.entries[0]?.text).toBe(`${'🚀'.repeat(MAX_ENTRY_TEXT - 1)}…`);
  });

  test('of bytes is divided among all slots in turn, so that none crowds out the others', () => {
    const wide = (count: number) => Array.from({ length: count }, (_, at) => `${at}${'💥'.repeat(490)}`);
    const outcome = makeReview({
      findings: wide(200).map((description) => finding({ description })),
      left_out: wide(200).map((path) => ({ path, reason: '' })),
    });
    const writes = writesOf(step(), outcome, 50);
    expect(Buffer.byteLength(JSON.stringify(writes.map(({ entries }) => entries)))).toBeLessThan(
      MAX_STATE_BYTES / 50,
    );
    const kept = Object.fromEntries(writes.map(({ slot, entries }) => [slot, entries.length]));
    expect(kept).toMatchObject({ decisions: 1, risks: 1, uncertainties: 1 });
  });
});
