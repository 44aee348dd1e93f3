import { unreachable } from '../../core/errors.ts';
import type { ReasonCode } from '../explanation/reason.ts';
import { actionOf } from '../policy/capability.ts';
import { chosenMerge, isWithheld } from './completed.ts';
import type { RunState, RunStatus } from './run.ts';

/**
 * How runs end, as a report counts them. `would_merge`: the rollout kept it from asking people and merging. `withheld`: it kept another
 * step from its write. `completed`: all was done, and nothing merged. `stopped`: something else replaced the run or ended it.
 */
export const RUN_ENDINGS = ['merged', 'would_merge', 'withheld', 'completed', 'failed', 'stopped'] as const;
export type RunEnding = (typeof RUN_ENDINGS)[number];

/** How a run that is over ended. */
export function endingOf(state: RunState): RunEnding {
  if (hasMerged(state)) return 'merged';
  const { status, reason } = state.run;
  const merge = chosenMerge(state);
  if (reason?.code === 'run.completed.rollout' && merge && isWithheld(merge)) return 'would_merge';
  return endingBy(status, reason?.code ?? null) ?? 'stopped';
}

/**
 * The same from a status and its reason, for a run that went on since: such a run had not merged. `undefined` if it was not over.
 */
export function endingBy(status: RunStatus, because: ReasonCode | null): RunEnding | undefined {
  switch (status) {
    case 'running':
    case 'waiting_ci':
    case 'waiting_approval':
    case 'waiting_until':
      return undefined;
    case 'completed':
      return because === 'run.completed.rollout' ? 'withheld' : 'completed';
    case 'failed':
    case 'timed_out':
      return 'failed';
    case 'aborted':
    case 'cancelled':
      return 'stopped';
    default:
      return unreachable(status);
  }
}

/** Whether a step of the run merged. */
export function hasMerged({ run, invocations }: RunState): boolean {
  return invocations.some(({ stepIndex, status, outcome }) => {
    const uses = run.definition.steps[stepIndex]?.uses;
    return status === 'completed' && outcome?.passed === true && uses && actionOf(uses)?.merges;
  });
}
