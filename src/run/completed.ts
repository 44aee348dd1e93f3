import { type Reason, reason } from './reason.ts';
import type { RunState } from './run.ts';

/** Why a run whose steps are all over is complete, told by its outcomes. */
export function completedReason(state: RunState): Reason {
  const outcomes = state.invocations.flatMap((step) => (step.outcome ? [step.outcome] : []));
  for (const outcome of outcomes) {
    if (outcome.outcome_kind === 'action_result' && outcome.action === 'gh-merge' && outcome.passed) {
      return reason('run.completed', outcome.summary);
    }
  }
  for (const outcome of outcomes) {
    if (outcome.outcome_kind === 'review_verdict' && outcome.passed === false) {
      return reason('run.completed.changes_requested', outcome.summary);
    }
  }
  const merge = state.invocations.find(
    (step) => state.run.definition.steps[step.stepIndex]?.uses.name === 'gh-merge',
  );
  if (!merge) return reason('run.completed', 'every step is done');
  const unmet = outcomes.find((outcome) => outcome.passed !== true);
  const because = merge.status === 'skipped' ? unmet?.summary : merge.reason?.summary;
  return reason('run.completed.not_merged', because ?? 'the merge step was skipped');
}
