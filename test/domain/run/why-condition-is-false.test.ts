import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome/outcome.ts';
import { whyConditionIsFalse } from '../../../src/domain/run/why-condition-is-false.ts';
import { actionOutcome, chainOfSteps, ciOutcome, reviewOutcome, runState } from '../../support/builders.ts';

const chain = chainOfSteps(
  'id: review, skill: pr-review',
  'id: ci',
  'id: versions, action: gh-label, with: { labels: [x] }',
  'id: merge, action: gh-merge, requires_approval: true',
);
const versions: Outcome = actionOutcome('gh-label', 'a major version');

/** The clause for a condition of `merge`, after a review and CI that ended like this. */
function why(condition: string, review: Outcome | null, ci: Outcome | null): string | undefined {
  const state = runState(chain);
  for (const [index, outcome] of [review, ci, versions].entries())
    Object.assign(state.invocations[index] ?? {}, { status: outcome ? 'completed' : 'skipped', outcome });
  const facts = { ...state.run.facts, trigger: { author: 'otto', labels: ['docs'] } };
  return whyConditionIsFalse({ ...state, run: { ...state.run, facts } }, 'merge', condition);
}

const BOTH = '{{ steps.review.outcome.passed and steps.ci.outcome.passed }}';
const [passed, failed, undecided] = [reviewOutcome(true), reviewOutcome(false), reviewOutcome(null)];

describe('a condition that is false says why in words', () => {
  test.each<[string, Outcome | null, Outcome | null, string | undefined]>([
    [BOTH, failed, null, 'the review did not pass'],
    [BOTH, undecided, null, 'the review has no verdict'],
    [BOTH, passed, ciOutcome(false), 'CI failed'],
    [BOTH, passed, null, 'CI was skipped'],
    ['{{ steps[0].outcome.passed }}', failed, null, 'the review did not pass'],
    [BOTH.replace('and', 'or'), failed, ciOutcome(false), 'the review did not pass and CI failed'],
    // True by itself, and false because it mentions an outcome that does not exist.
    [BOTH.replace('and', 'or'), passed, null, 'CI was skipped'],
    ['{{ not steps.review.outcome.passed }}', passed, null, 'the review passed'],
    [
      '{{ not (steps.review.outcome.passed and steps.ci.outcome.passed) }}',
      passed,
      ciOutcome(true),
      'the review passed and CI passed',
    ],
    [
      "{{ steps.review.outcome.verdict == 'REQUEST_CHANGES' }}",
      passed,
      null,
      'the review requests no changes',
    ],
    [
      "{{ 'REQUEST_CHANGES' != steps.review.outcome.verdict }}",
      { ...failed, verdict: 'REQUEST_CHANGES' } as Outcome,
      null,
      'the review requests changes',
    ],
    [
      "{{ steps.versions.outcome.summary in ['patch', 'minor'] }}",
      null,
      null,
      'the summary of the step versions is not "patch" or "minor"',
    ],
    ["{{ steps.ci.status == 'completed' }}", null, null, 'the status of CI is not "completed"'],
    ['{{ trigger.author == "mia" }}', null, null, 'the trigger\'s author is not "mia"'],
    ['{{ "ready" in trigger.labels }}', null, null, '"ready" is not in the trigger\'s labels'],
    ['{{ inputs.level > 3 }}', null, null, 'the input level is not above 3'],
    ['{{ trigger.draft }}', null, null, "the trigger's draft is not true"],
    ['{{ (trigger.labels | length) > 3 }}', null, null, undefined],
    ['{{ state.working.risks }}', null, null, undefined],
  ])('%s', (condition, review, ci, clause) => {
    expect(why(condition, review, ci)).toBe(clause);
  });

  test('and cuts a long value of the chain', () => {
    expect(why(`{{ trigger.author == '${'x'.repeat(100)}' }}`, null, null)).toBe(
      `the trigger's author is not "${'x'.repeat(60)}…"`,
    );
  });
});
