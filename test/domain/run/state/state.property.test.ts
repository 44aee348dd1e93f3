import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../../../../src/domain/chain/chain.ts';
import { type CognitiveState, cognitiveStateSchema } from '../../../../src/domain/expression/state-schema.ts';
import { SLOTS } from '../../../../src/domain/expression/state-slot.ts';
import type { Outcome } from '../../../../src/domain/outcome/outcome.ts';
import { conditionContext, memoryOf } from '../../../../src/domain/run/context.ts';
import { MAX_SLOT_ENTRIES, MAX_STATE_BYTES } from '../../../../src/domain/run/state/limits.ts';
import { entriesOf } from '../../../../src/domain/run/state/outcome-entries.ts';
import { writesOf } from '../../../../src/domain/run/state/writes.ts';
import { check, finding, makeCi, makeReview } from '../../../messages/builders.ts';
import { chainOfSteps, ciOutcome } from '../../../support/builders.ts';
import { Player } from '../player.ts';

const LONG = process.env.COUNTERSIGN_LONG === '1';
const seed = Number(process.env.COUNTERSIGN_SEED ?? (LONG ? Date.now() % 2 ** 31 : 4));
const always = { seed, numRuns: LONG ? 2_000 : 40 };

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom('\u0000'.repeat(900), '💥'.repeat(700), '"\\'.repeat(600)) },
);
const severity = fc.constantFrom('critical', 'high', 'medium', 'low', 'info');

/** A review or a CI result with hostile texts, and more of them than fit. */
const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc
    .record({
      findings: fc.array(fc.record({ description: text, severity }), { maxLength: 70 }),
      left_out: fc.array(fc.record({ path: text, reason: text }), { maxLength: 20 }),
      verdict: fc.constantFrom('APPROVE', 'REQUEST_CHANGES', null),
      summary: text,
    })
    .map(({ findings, ...more }) =>
      makeReview({
        ...more,
        findings: findings.map((each) => finding(each)),
        passed: more.verdict === null ? null : more.verdict === 'APPROVE',
      }),
    ),
  fc
    .array(fc.record({ name: text, state: fc.constantFrom('passed', 'failed', 'neutral') }), {
      maxLength: 70,
    })
    .map((checks) => makeCi(checks.map(({ name, state }) => check(name, { state })))),
);

/** As many steps side by side as a run allows. */
const SIDE_BY_SIDE: Chain = chainOfSteps(
  'id: a, depends_on: []',
  'id: b, depends_on: []',
  'id: c, depends_on: [], output_mapping: { messages: outcome.summary, risks: "[outcome.summary, [1]]" }',
  'id: d, depends_on: []',
);
const IDS = ['a', 'b', 'c', 'd'];

/** Sessions are numbered in the order in which they began, so their ids depend on time and are left out. */
function timeless({ trace, ...memory }: CognitiveState): object {
  return { ...memory, trace: trace.map(({ session_id, ...line }) => line) };
}

describe(`working memory, seed ${seed}`, { timeout: 200_000 }, () => {
  test('is the same in whatever order parallel steps finish, however often they ran before', {
    tags: 'slow',
  }, () => {
    const story = fc.record({
      outcomes: fc.tuple(anyOutcome, anyOutcome, anyOutcome, anyOutcome),
      order: fc.shuffledSubarray(IDS, { minLength: 4, maxLength: 4 }),
      again: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(story, ({ outcomes, order, again }) => {
        const outcomeOf = (id: string) => outcomes[IDS.indexOf(id)] ?? ciOutcome(true);
        const inOrder = Player.started(SIDE_BY_SIDE);
        for (const id of IDS) inOrder.done(id, outcomeOf(id));
        const played = Player.started(SIDE_BY_SIDE);
        for (const stepIndex of again) {
          const id = IDS[stepIndex] ?? '';
          if (played.step(id).status === 'running')
            played.done(id, makeReview({ summary: 'An earlier try.' }));
          played.send({ kind: 'rerun', stepIndex });
        }
        for (const id of order) {
          if (played.step(id).status === 'completed')
            played.send({ kind: 'rerun', stepIndex: IDS.indexOf(id) });
          played.done(id, outcomeOf(id));
        }
        expect(timeless(memoryOf(played.state))).toEqual(timeless(memoryOf(inOrder.state)));
      }),
      always,
    );
  });

  test('looks the same to a step whether or not steps that it does not wait for are done', {
    tags: 'slow',
  }, () => {
    const chain = chainOfSteps(
      'id: a, depends_on: []',
      'id: b, depends_on: []',
      'id: c, depends_on: [a]',
      'id: last, depends_on: [c]',
    );
    fc.assert(
      fc.property(anyOutcome, anyOutcome, anyOutcome, fc.boolean(), (a, b, c, early) => {
        const alone = Player.started(chain).done('a', a).done('c', c);
        const beside = Player.started(chain);
        if (early) beside.done('b', b).done('a', a).done('c', c);
        else beside.done('a', a).done('c', c).done('b', b);
        expect(conditionContext(beside.state, 'last').state).toEqual(
          conditionContext(alone.state, 'last').state,
        );
      }),
      always,
    );
  });

  test('keeps the shapes and limits, whatever the outcomes contain', () => {
    fc.assert(
      fc.property(fc.array(anyOutcome, { minLength: 4, maxLength: 4 }), (outcomes) => {
        const run = Player.started(SIDE_BY_SIDE);
        for (const [index, outcome] of outcomes.entries()) run.done(IDS[index] ?? '', outcome);
        const memory = cognitiveStateSchema.parse(memoryOf(run.state));
        expect(Buffer.byteLength(JSON.stringify(Object.values(memory.working).flat()))).toBeLessThanOrEqual(
          MAX_STATE_BYTES,
        );
        for (const slot of SLOTS) expect(memory.working[slot].length).toBeLessThanOrEqual(MAX_SLOT_ENTRIES);
      }),
      always,
    );
  });

  test('keeps the first entries of a step, and counts the rest', () => {
    const [step] = SIDE_BY_SIDE.steps;
    if (!step) throw new Error('the chain has steps');
    fc.assert(
      fc.property(anyOutcome, fc.integer({ min: 1, max: 50 }), (outcome, steps) => {
        const byKind = entriesOf(outcome);
        const writes = writesOf(step, outcome, steps);
        const room = MAX_STATE_BYTES / steps;
        expect(Buffer.byteLength(JSON.stringify(writes.map(({ entries }) => entries)))).toBeLessThan(room);
        for (const { slot, entries, cut } of writes) {
          expect(entries.length + cut).toBe(byKind[slot]?.length);
          const whole = byKind[slot]?.slice(0, entries.length).map((entry) => Array.from(entry.text));
          expect(entries.map((entry) => Array.from(entry.text).slice(0, 499))).toEqual(
            whole?.map((points) => points.slice(0, 499)),
          );
        }
      }),
      always,
    );
  });
});
