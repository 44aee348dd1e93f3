import { describe, expect, test } from 'vitest';
import type { Chain } from '../../../src/domain/chain/chain.ts';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import { reason } from '../../../src/domain/explanation/reason.ts';
import type { Outcome } from '../../../src/domain/outcome/outcome.ts';
import { completedReason } from '../../../src/domain/run/completed.ts';
import { explain } from '../../../src/domain/run/explain.ts';
import { actionOutcome, chainOfSteps, ciOutcome, reviewOutcome, runState } from '../../support/builders.ts';
import { Player, reasonText } from './player.ts';

const merging = chainOfSteps(
  'id: review, skill: pr-review',
  'id: ci',
  'id: merge, action: gh-merge, requires_approval: true',
);
const reviewing = chainOfSteps('id: review, skill: pr-review', 'id: ci');
const merged = actionOutcome('gh-merge', 'merged into main as 1112223, countersigned by mia');

/** The reason of a run whose steps are over: completed with these outcomes, or skipped without one. */
function why(definition: Chain, outcomes: (Outcome | null)[]): string {
  const state = runState(definition);
  for (const [index, outcome] of outcomes.entries()) {
    const status = outcome ? 'completed' : 'skipped';
    const because = outcome
      ? reason('step.completed', outcome.summary)
      : reason('step.skipped.condition', 'its condition is false');
    Object.assign(state.invocations[index] ?? {}, { status, outcome, reason: because });
  }
  return reasonText(completedReason(state));
}

describe('the reason of a completed run', () => {
  test.each<[string, Chain, (Outcome | null)[], string]>([
    [
      'it merged',
      merging,
      [reviewOutcome(true), ciOutcome(true), merged],
      'run.completed: merged into main as 1112223, countersigned by mia',
    ],
    [
      'a merge, whatever an earlier step said',
      merging,
      [reviewOutcome(false), ciOutcome(true), merged],
      'run.completed: merged into main as 1112223, countersigned by mia',
    ],
    [
      'a review that requests changes',
      merging,
      [reviewOutcome(false, '2 findings must be fixed'), null, null],
      'run.completed.changes_requested: 2 findings must be fixed',
    ],
    [
      'a review that requests changes, in a chain that does not merge',
      reviewing,
      [reviewOutcome(false, '2 findings must be fixed'), ciOutcome(true)],
      'run.completed.changes_requested: 2 findings must be fixed',
    ],
    [
      'CI failed',
      merging,
      [reviewOutcome(true), ciOutcome(false, '1 of 3 checks failed: test'), null],
      'run.completed.not_merged: 1 of 3 checks failed: test',
    ],
    [
      'a review without a verdict',
      merging,
      [reviewOutcome(null, 'the review is incomplete: oxlint crashed'), null, null],
      'run.completed.not_merged: the review is incomplete: oxlint crashed',
    ],
    [
      'a skipped merge although all outcomes are good',
      merging,
      [reviewOutcome(true), ciOutcome(true), null],
      'run.completed.not_merged: the merge step was skipped',
    ],
    [
      'a chain without a merge, whatever CI says',
      reviewing,
      [reviewOutcome(true), ciOutcome(false, '1 of 3 checks failed: test')],
      'run.completed: every step is done',
    ],
    [
      'a merge action with a negative outcome',
      merging,
      [reviewOutcome(true), ciOutcome(true), actionOutcome('gh-merge', 'not merged', false)],
      'run.completed.not_merged: not merged',
    ],
  ])('is as expected for %s', (_, definition, outcomes, expected) => {
    expect(why(definition, outcomes)).toBe(expected);
  });

  test('names the failure of a merge that on_failure: continue tolerates', () => {
    const chain = chainOfSteps(
      'id: review, skill: pr-review',
      'id: merge, action: gh-merge, requires_approval: true, on_failure: continue',
    );
    const play = Player.started(chain)
      .done('review', reviewOutcome(true))
      .fails('merge', { because: 'rejected by mia' });
    expect(reasonText(play.run.reason)).toContain('rejected by mia');
  });

  test('is that of the step that merges, if conditions chose another step than the first', () => {
    const state = runState(
      chainOfSteps(
        'id: merge, action: gh-merge, requires_approval: true',
        'id: merge-major, action: gh-merge, requires_approval: true, depends_on: []',
      ),
    );
    const [first, second] = state.invocations;
    Object.assign(first ?? {}, {
      status: 'skipped',
      reason: reason('step.skipped.condition', 'the level is major'),
    });
    const outcome = actionOutcome('gh-merge', 'would have asked 2 maintainers', null);
    Object.assign(second ?? {}, {
      status: 'skipped',
      outcome,
      reason: reason('step.skipped.rollout', outcome.summary),
    });
    expect(reasonText(completedReason(state))).toBe('run.completed.rollout: would have asked 2 maintainers');
    expect(explain(state, null).reasons[0]).toEqual(
      criterion('met', 'merge was skipped because the level is major; merge-major merges instead'),
    );
  });
});
