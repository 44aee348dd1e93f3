import { dependenciesOf } from '../chain/graph.ts';
import { stepsContext } from '../expression/condition.ts';
import type { CognitiveState } from '../expression/state-schema.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { RunState } from './run.ts';
import { cognitiveState } from './state/state.ts';

/**
 * The context of a step's expressions: `steps`, `trigger`, `inputs`, `repo`, and `state` as written by earlier steps.
 * @param fresh outcomes that were read again and replace the stored ones
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
    inputs: state.run.facts.inputs ?? {},
    repo: state.run.facts.repo,
    state: memoryBefore(state, reader, fresh),
  };
}

/** The whole working memory of a run, for display. */
export function memoryOf(state: RunState): CognitiveState {
  return memory(state, () => true, new Map());
}

/**
 * The working memory as one step sees it: only entries of its dependencies. Otherwise the result would depend
 * on whether a parallel step was faster.
 */
function memoryBefore(state: RunState, reader: string, fresh: ReadonlyMap<string, Outcome>): CognitiveState {
  const dependencies = new Set(dependenciesOf(state.run.definition.steps, reader));
  return memory(state, (id) => dependencies.has(id), fresh);
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
      ? [{ step, outcome: now && forMemory(now, state), sessionId, artifactId: outcomeArtifactId }]
      : [];
  });
  return cognitiveState(state.run, steps);
}

/**
 * A head without any checks has no CI verdict (`passed: null`). A setting of the repository says whether it
 * may be merged. For conditions, that setting replaces the missing verdict; the stored outcome stays
 * unchanged.
 */
export function asConditionsSeeIt(outcome: Outcome, state: RunState): Outcome {
  if (outcome.outcome_kind !== 'ci_result' || outcome.passed !== null || outcome.checks.length > 0)
    return outcome;
  return { ...outcome, passed: state.run.settings.ci.no_checks === 'allow' };
}

/**
 * With a setting that allows a head without checks, the outcome passes. With one that does not, the memory
 * keeps the original outcome, because a missing CI says nothing about risks.
 */
function forMemory(outcome: Outcome, state: RunState): Outcome {
  const seen = asConditionsSeeIt(outcome, state);
  return seen.passed === true ? seen : outcome;
}
