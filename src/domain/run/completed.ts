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

/** The reason of a completed run, derived from its outcomes. */
export function completedReason({ run, invocations }: RunState): Reason {
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
  const merge = invocations.find((step) => actionOfStep(run, step)?.merges);
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
