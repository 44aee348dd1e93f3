import { ApiError } from '../api-error.ts';
import { mergeability } from '../rules/mergeability.ts';
import { mergeQueueOf } from '../rules/requirements.ts';
import type { State } from '../state.ts';
import type { PullRequest } from '../world.ts';
import { disableAutoMerge } from './auto-merge.ts';
import { mergePullRequest } from './merge.ts';
import { advanceQueues, enqueue } from './queue.ts';

/**
 * Does what GitHub does by itself after a change: auto-merges and merge queues. GitHub takes seconds for it. The stand-in does it
 * at once, which is the hardest case for an app that relies on having time.
 */
export function followUp(state: State): void {
  while ([...state.autoMerging].some((pr) => autoMerge(state, pr)) || advanceQueues(state));
}

/** @returns whether it merged. */
function autoMerge(state: State, pr: PullRequest): boolean {
  const wanted = pr.pull.autoMerge;
  if (!wanted) return false;
  const { mergeable, mergeable_state: standing } = mergeability(state, pr);
  if (!mergeable || (standing !== 'clean' && standing !== 'unstable')) return false;
  try {
    if (mergeQueueOf(state, pr.repository, pr.pull.base.ref)) {
      // "Merge when ready" on a branch with a queue.
      state.autoMerging.delete(pr);
      pr.pull.autoMerge = undefined;
      enqueue(state, pr, wanted.by);
    } else mergePullRequest(state, pr, { ...wanted, via: 'auto-merge' });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    disableAutoMerge(state, pr, wanted.by, error.message);
    return false;
  }
}
