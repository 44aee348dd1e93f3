import { dependenciesOf } from '../chain/graph.ts';
import { stepsContext } from '../expression/condition.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { RunState } from './run.ts';
import { type CognitiveState, cognitiveState } from './state/state.ts';

/**
 * What the expressions of a step can read: `steps`, `trigger`, `repo` and, of the steps before it, `state`.
 * @param fresh Outcomes that were read again, in the place of those that are stored.
 */
export function conditionContext(
  state: RunState,
  reader: string,
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
    state: memoryBefore(state, reader, fresh),
  };
}

/** The whole working memory of a run, as people are shown it. */
export function memoryOf(state: RunState): CognitiveState {
  return memory(state, () => true, new Map());
}

/**
 * What a step sees of the working memory: only what the steps that it waits for wrote. Whether another one that runs beside it
 * was quicker must not change what it does.
 */
function memoryBefore(state: RunState, reader: string, fresh: ReadonlyMap<string, Outcome>): CognitiveState {
  const before = new Set(dependenciesOf(state.run.definition.steps, reader));
  return memory(state, (id) => before.has(id), fresh);
}

function memory(
  state: RunState,
  isRead: (stepId: string) => boolean,
  fresh: ReadonlyMap<string, Outcome>,
): CognitiveState {
  const { definition } = state.run;
  const steps = state.invocations.flatMap(({ outcome, outcomeArtifactId, sessionId, stepId, stepIndex }) => {
    const step = definition.steps[stepIndex];
    const now = fresh.get(stepId) ?? outcome;
    return step && isRead(stepId)
      ? [{ step, outcome: now && asRemembered(now, state), sessionId, artifactId: outcomeArtifactId }]
      : [];
  });
  return cognitiveState(state.run, steps);
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

/** A setting that lets a head without checks pass is a verdict; one that does not says no more about its risks than nothing does. */
function asRemembered(outcome: Outcome, state: RunState): Outcome {
  const seen = asConditionsSeeIt(outcome, state);
  return seen.passed === true ? seen : outcome;
}
