import { stepsContext } from '../chain/condition.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { RunState } from './run.ts';

/** What expressions of a chain can read: `steps`, `trigger`, `repo`. */
export function conditionContext(
  state: RunState,
  fresh: ReadonlyMap<string, Outcome> = new Map(),
): Record<string, unknown> {
  return {
    steps: stepsContext(
      state.invocations.map((step) => {
        const outcome = fresh.get(step.stepId) ?? step.outcome;
        return {
          id: step.stepId,
          status: step.status,
          ...(outcome ? { outcome: asConditionsSeeIt(outcome, state) } : {}),
        };
      }),
    ),
    trigger: state.run.facts.trigger,
    repo: state.run.facts.repo,
  };
}

/**
 * A head without any checks has no CI verdict (`passed: null`). Whether that may merge is the repository's setting, so
 * for conditions the setting answers; the stored outcome stays what it is.
 */
export function asConditionsSeeIt(outcome: Outcome, state: RunState): Outcome {
  if (outcome.outcome_kind !== 'ci_result' || outcome.passed !== null || outcome.checks.length > 0)
    return outcome;
  return { ...outcome, passed: state.run.settings.ci.no_checks === 'allow' };
}
