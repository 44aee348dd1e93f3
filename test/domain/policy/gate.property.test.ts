// @module-tag security

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeSettings, type SettingsFile } from '../../../src/domain/chain/settings.ts';
import { FAILURE_POLICIES, type GateCriterion, type WrittenGate } from '../../../src/domain/gate/gate.ts';
import { gatesOf, type PlacedGate } from '../../../src/domain/gate/placed.ts';
import { FACT_NAMES, type Facts, factOf, known, unknown } from '../../../src/domain/policy/facts/fact.ts';
import { question } from '../../../src/domain/policy/gate/judge.ts';
import { conditionOf, unjudged, verdictOf } from '../../../src/domain/policy/gate/verdict.ts';
import { judgeMerge } from '../../../src/domain/policy/merge-gate.ts';
import { facts as mergeFacts, question as mergeQuestion } from './merge-facts.ts';

const long = process.env.COUNTERSIGN_LONG === '1';
const seed = Number(process.env.COUNTERSIGN_SEED ?? (long ? Date.now() % 2 ** 31 : 7));
const runs = { seed, numRuns: long ? 20_000 : 300 };

const name = fc.constantFrom(...FACT_NAMES);
/** Expressions that try in every way to conclude something from a fact. */
const expression = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    name.map((fact) => `pr.${fact}`),
    fc.constantFrom('true', 'false', 'none', '1', "'x'", '[]', 'repo.name', 'trigger.draft'),
    tie('any').map((a) => `(not ${a})`),
    fc
      .tuple(tie('any'), fc.constantFrom('and', 'or', '==', '!=', 'in', '<', '>='), tie('any'))
      .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    fc.tuple(tie('any'), tie('any'), tie('any')).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
    tie('any').map((a) => `(${a} is none)`),
    tie('any').map((a) => `(${a} is defined)`),
    fc
      .tuple(tie('any'), fc.constantFrom('length', 'default(true)'))
      .map(([a, filter]) => `(${a} | ${filter})`),
  ),
})).any;
const fact = fc.oneof(
  fc.constantFrom(known(true), known(false), known(0), known([]), known(['x']), known('x')),
  fc.constantFrom(unknown('it was cut off', true), unknown('it was refused')),
);
const facts: fc.Arbitrary<Facts> = fc.dictionary(name, fact);

const id = fc.constantFrom('a', 'b', 'c');
const writtenGate: fc.Arbitrary<WrittenGate> = fc.record({
  id,
  on_failure: fc.constantFrom(...FAILURE_POLICIES),
  criteria: fc.constant([{ id: 'c', if: 'true' }]),
});
const settings: fc.Arbitrary<SettingsFile> = fc.record({
  gates: fc.array(
    fc.record({
      uses: fc.constantFrom('gh-merge', 'ci', '*'),
      pre: fc.array(writtenGate, { maxLength: 3 }),
      post: fc.array(writtenGate, { maxLength: 3 }),
    }),
    { maxLength: 4 },
  ),
});

describe(`with seed ${seed}`, () => {
  test('an expression over an unknown fact never passes', () => {
    let judged = 0;
    fc.assert(
      fc.property(expression, facts, (text, read) => {
        const named = FACT_NAMES.filter((one) => new RegExp(`pr\\.${one}\\b`).test(text));
        fc.pre(named.some((one) => !factOf(read, one).known));
        judged += 1;
        const criterion: GateCriterion = { kind: 'expression', id: 'it', if: text };
        const world = { facts: read, context: { repo: { name: 'app' }, trigger: {} }, now: new Date(0) };
        expect(question(criterion, world).judge().passed).toBe(false);
      }),
      runs,
    );
    expect(judged).toBeGreaterThan(100);
  });

  test('the same inputs give the same verdict', () => {
    fc.assert(
      fc.property(expression, facts, facts, (text, one, other) => {
        const ask = (read: Facts) =>
          question(
            { kind: 'expression', id: 'it', if: text },
            { facts: read, context: { repo: {}, trigger: {} }, now: new Date(0) },
          );
        const [a, b] = [ask(one), ask(other)];
        fc.pre(JSON.stringify(a.inputs) === JSON.stringify(b.inputs));
        expect(a.judge().passed).toBe(b.judge().passed);
      }),
      runs,
    );
  });

  test('another gate never allows a merge that was not allowed, and a failed one prevents every merge', () => {
    const placed = writtenGate.map(
      ({ id: gate, on_failure }): PlacedGate => ({
        gate: { kind: 'skill', id: gate, skill: 'ci', on_failure },
        scope: 'organisation',
        at: 'pre',
      }),
    );
    const verdict = fc
      .tuple(placed, fc.boolean(), fc.boolean())
      .map(([gate, passed, threw]) =>
        threw
          ? unjudged(gate, 'merge', 'it broke', 'h')
          : verdictOf(
              gate,
              'merge',
              [{ id: 'c', description: 'c', passed, evidence: '', may_change: true }],
              'h',
            ),
      );
    const status = fc.constantFrom('met' as const, 'unmet' as const, 'unknown' as const, 'pending' as const);
    fc.assert(
      fc.property(
        fc.array(status, { maxLength: 2 }),
        fc.array(verdict, { maxLength: 4 }),
        (others, verdicts) => {
          const conditions = others.map((one) => ({ status: one, summary: one, evidence: [], reasons: [] }));
          const without = judgeMerge(mergeQuestion(), mergeFacts({ conditions }));
          const merged = judgeMerge(
            mergeQuestion(),
            mergeFacts({ conditions: [...conditions, ...verdicts.map(conditionOf)] }),
          );
          if (!without.proof) expect(merged.proof).toBeUndefined();
          if (verdicts.some(({ gate_passed, on_failure }) => !gate_passed && on_failure === 'block'))
            expect(merged.proof).toBeUndefined();
        },
      ),
      runs,
    );
  });

  test('a repository can neither remove nor change a gate of its organisation', () => {
    fc.assert(
      fc.property(
        settings,
        settings,
        fc.constantFrom('gh-merge', 'ci', 'gh-label'),
        (organisation, own, uses) => {
          const of = (...files: [SettingsFile | undefined, SettingsFile | undefined]) =>
            gatesOf({ uses: { name: uses } }, mergeSettings(...files).gates ?? [], uses === 'gh-merge');
          const [alone, together] = [of(organisation, undefined), of(organisation, own)];
          for (const at of ['pre', 'post'] as const) {
            expect(together[at].filter(({ scope }) => scope === 'organisation')).toEqual(alone[at]);
            expect(together[at].filter(({ scope }) => scope === 'repository')).toEqual(
              of(undefined, own)[at],
            );
          }
        },
      ),
      runs,
    );
  });
});
