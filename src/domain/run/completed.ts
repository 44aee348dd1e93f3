import { stepRef } from '../explanation/evidence.ts';
import { type Reason, reason } from '../explanation/reason.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { actionNamed } from '../policy/capability.ts';
import { actionOfStep, type Invocation, type RunState } from './run.ts';

/** The reason of a completed step and its session: the outcome's summary, with the outcome as evidence. */
export function doneReason({ outcome, artifactId }: { outcome: Outcome; artifactId: string }): Reason {
  return reason('step.completed', outcome.summary, [
    { kind: 'artifact', id: artifactId, label: outcome.outcome_kind },
  ]);
}

/** Whether the step's outcome says that no further step of the run begins. */
export function endsChain({ status, outcome }: Invocation): boolean {
  return (
    status === 'completed' && outcome?.outcome_kind === 'flow_control_verdict' && !outcome.should_continue
  );
}

/** Whether the rollout did not let the step go on. */
export function isWithheld({ status, reason }: Pick<Invocation, 'status' | 'reason'>): boolean {
  return status === 'skipped' && reason?.code === 'step.skipped.rollout';
}

/** The step that merges, where conditions choose one of several; `undefined` if all were skipped. */
export function chosenMerge({ run, invocations }: RunState): Invocation | undefined {
  return invocations.find(
    (step) => actionOfStep(run, step)?.merges && (step.status !== 'skipped' || isWithheld(step)),
  );
}

/** The reason of a completed run, derived from its outcomes. */
export function completedReason(state: RunState): Reason {
  const { run, invocations } = state;
  const done = invocations.flatMap((step) => (step.outcome ? [{ step, outcome: step.outcome }] : []));
  for (const { step, outcome } of done) {
    if (outcome.outcome_kind === 'action_result' && actionNamed(outcome.action)?.merges && outcome.passed) {
      return reason('run.completed', outcome.summary, [stepRef(step)]);
    }
  }
  for (const { step, outcome } of done) {
    if (outcome.outcome_kind === 'review_verdict' && outcome.passed === false) {
      return reason('run.completed.changes_requested', outcome.summary, [stepRef(step)]);
    }
  }
  const ending = invocations.find(endsChain);
  if (ending) return reason('run.completed.ended_early', ending.outcome?.summary ?? '', [stepRef(ending)]);
  const merge = chosenMerge(state) ?? invocations.find((step) => actionOfStep(run, step)?.merges);
  const withheld = merge ?? invocations.find(isWithheld);
  if (withheld && isWithheld(withheld))
    return reason('run.completed.rollout', withheld.outcome?.summary ?? '', [stepRef(withheld)]);
  if (!merge)
    return reason(
      'run.completed',
      'every step is done',
      done.map(({ step }) => stepRef(step)),
    );
  if (merge.status !== 'skipped') return notMerged(merge, merge.reason?.summary);
  const unmet = done.find(({ outcome }) => outcome.passed !== true);
  return unmet ? notMerged(unmet.step, unmet.outcome.summary) : notMerged(merge);
}

function notMerged(step: Invocation, because = 'the merge step was skipped'): Reason {
  return reason('run.completed.not_merged', because, [stepRef(step)]);
}
