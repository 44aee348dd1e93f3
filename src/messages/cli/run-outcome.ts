import { unreachable } from '../../core/errors.ts';
import { isRunOver, type RunState } from '../../domain/run/run.ts';
import { type RunSummary, runSummary } from '../run/run-summary.ts';
import type { Meaning } from '../text/screen.ts';

/** What came of a run, in two or three words for a column; empty while it goes on. */
export function outcomeOfRun(state: RunState): string {
  return isRunOver(state.run.status) ? wordsOf(runSummary(state, null)) : '';
}

function wordsOf(summary: RunSummary): string {
  switch (summary.kind) {
    case 'merged':
      return 'merged';
    case 'done':
      return 'done';
    case 'changes_requested':
      return 'changes requested';
    case 'review_incomplete':
      return 'review incomplete';
    case 'ci_failed':
      return 'CI failed';
    case 'no_checks':
      return 'no checks ran';
    case 'not_passed':
      return `${summary.step} did not pass`;
    case 'rejected':
      return 'rejected';
    case 'not_mergeable':
      return 'not mergeable';
    case 'step_failed':
      return `${summary.step} failed`;
    case 'timed_out':
      return `${summary.step} took too long`;
    case 'not_merged':
      return 'not merged';
    case 'ended_early':
      return `ended by ${summary.step}`;
    case 'superseded':
    case 'newer_run':
      return 'superseded';
    case 'closed':
      return 'closed';
    case 'merged_elsewhere':
      return 'merged by hand';
    case 'merged_by_chain':
      return 'merged by another chain';
    case 'draft':
      return 'is a draft';
    case 'retargeted':
      return 'new base branch';
    case 'not_triggered':
      return 'no longer triggered';
    case 'settings_changed':
      return 'settings changed';
    case 'chain_changed':
      return 'chain changed';
    case 'parent_ended':
      return 'its run ended';
    case 'stopped':
      return 'cancelled';
    case 'withheld':
      return 'not rolled out';
    case 'rollout_changed':
      return 'rollout changed';
    case 'installation_gone':
      return 'app removed';
    case 'shut_out':
      return 'app refused';
    case 'queued':
    case 'paused':
    case 'working':
    case 'waiting_ci':
    case 'waiting_countersign':
    case 'countersigned':
    case 'ready_to_merge':
    case 'waiting_github':
    case 'held_back':
    case 'conflict':
    case 'waiting_retry':
      return '';
    default:
      return unreachable(summary);
  }
}

/** The colour of a status of runs or deliveries. */
export function meaningOfStatus(status: string): Meaning | undefined {
  if (status === 'completed' || status === 'done') return 'good';
  if (status === 'failed' || status === 'timed_out' || status === 'aborted') return 'bad';
  return status.startsWith('waiting') ? 'waiting' : undefined;
}

/** The colour of a step's state in words, as `face` says it. */
export function meaningOfStep(words: string): Meaning | undefined {
  if (words === 'done') return 'good';
  if (words === 'failed' || words === 'not passed' || words === 'took too long') return 'bad';
  return words.startsWith('waiting') ? 'waiting' : undefined;
}
