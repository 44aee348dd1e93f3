import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequiredCheck } from '../../../../src/ports/github.ts';
import { ACTIONS, judge, OTHER_APP, OWN_APP, run, status } from './facts.ts';

describe('whatever is reported', () => {
  const name = fc.constantFrom('build', 'test', 'countersign / x');
  const app = fc.constantFrom(ACTIONS, OTHER_APP, OWN_APP, null);
  const anyRun = fc
    .record({
      name,
      appId: app,
      id: fc.nat(1_000),
      status: fc.constantFrom('completed', 'completed', 'completed', 'queued', 'odd'),
      conclusion: fc.constantFrom('success', 'success', 'success', 'failure', 'skipped', 'odd', null),
    })
    .map((more) => run(more.name, 'success', more));
  const anyFacts = fc.record({
    checkRuns: fc.uniqueArray(anyRun, { maxLength: 6, selector: ({ id }) => id }),
    statuses: fc.uniqueArray(
      fc.record({ name, state: fc.constantFrom('success' as const, 'failure' as const, 'pending' as const) }),
      { maxLength: 2, selector: ({ name: context }) => context },
    ),
    required: fc.array(fc.record({ name, appId: app }), { maxLength: 3 }),
  });

  test('CI passes exactly when another app reported something, all of it is green, and no required check of another app is missing', () => {
    fc.assert(
      fc.property(anyFacts, ({ checkRuns, statuses, required: rules }) => {
        const judgement = judge({
          checkRuns,
          statuses: statuses.map((each) => status(each.name, each.state)),
          required: rules,
        });
        const others = checkRuns.filter((each) => each.appId !== OWN_APP);
        const counting = others.filter(
          (each) => !others.some((o) => o.name === each.name && o.appId === each.appId && o.id > each.id),
        );
        const green =
          counting.every(
            (each) => each.status === 'completed' && ['success', 'skipped'].includes(each.conclusion ?? ''),
          ) && statuses.every((each) => each.state === 'success');
        const reporters = (wanted: string) => [
          ...checkRuns.filter((each) => each.name === wanted).map((each) => each.appId ?? 'no app'),
          ...statuses.filter((each) => each.name === wanted).map(() => 'a status'),
        ];
        const met = (rule: RequiredCheck) =>
          rule.appId === OWN_APP ||
          (rule.appId === null ? reporters(rule.name).length > 0 : reporters(rule.name).includes(rule.appId));
        const expected = counting.length + statuses.length > 0 && green && rules.every(met);
        expect(judgement.kind === 'concluded' && judgement.result.passed === true).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('the order of GitHub’s list does not matter', () => {
    fc.assert(
      fc.property(anyFacts, ({ checkRuns, required: rules }) => {
        const there = judge({ checkRuns, required: rules });
        const back = judge({ checkRuns: checkRuns.toReversed(), required: rules.toReversed() });
        expect(back).toEqual(there);
      }),
    );
  });
});
