import type { Approval } from '../../domain/policy/approval.ts';
import type { RunState } from '../../domain/run/run.ts';
import { sentence } from '../run/run-sentence.ts';
import { runSummary } from '../run/run-summary.ts';
import { code, inline } from '../text/markdown.ts';
import { asSentence, listed, short } from '../text/pretty.ts';

/**
 * Why an approval comment is void, as Markdown. The reason of the run if it ended; otherwise what the last
 * poll found, for example that somebody edited the comment.
 */
export function voidBecause(state: RunState, approval: Approval): string {
  const { reason } = state.run;
  const outcome = state.invocations.find(({ id }) => id === approval.invocationId)?.outcome;
  // Another step of the run merged, whatever the run's own status is.
  if (outcome?.outcome_kind === 'action_result' && outcome.details.merged_by_step !== undefined)
    return inline(asSentence(outcome.summary), 300);
  const where = runSummary(state, approval);
  switch (where.kind) {
    case 'superseded': {
      const newer = reason?.evidence.find(({ kind, id }) => kind === 'commit' && id !== approval.headSha);
      return newer === undefined
        ? 'A newer commit was pushed.'
        : `A newer commit was pushed: ${code(short(newer.id))}.`;
    }
    case 'newer_run':
      return where.by.length === 0
        ? 'The chain was started again for the same commit.'
        : `${people(where.by)} started the chain again for the same commit.`;
    case 'retargeted':
      return 'The base branch of the pull request was changed.';
    case 'draft':
      return 'The pull request was turned into a draft.';
    case 'closed':
      return 'The pull request was closed.';
    case 'merged_elsewhere':
      return 'The pull request was merged by hand.';
    case 'merged_by_chain':
    case 'rollout_changed':
    case 'parent_ended':
      return inline(asSentence(where.because), 300);
    case 'not_triggered':
      return 'The pull request changed, and this chain no longer applies to it.';
    case 'settings_changed':
      return unmetAtLastPoll(approval) ?? 'The settings on the governing branch were changed.';
    case 'chain_changed':
      return unmetAtLastPoll(approval) ?? 'The chain that asked was changed.';
    case 'stopped':
      return where.by.length === 0
        ? 'The run was cancelled.'
        : `The run was cancelled by ${people(where.by)}.`;
    case 'installation_gone':
      return 'The app was removed from this repository.';
    case 'shut_out':
      return 'GitHub refuses this app here.';
    case 'timed_out':
    case 'step_failed':
    case 'not_mergeable':
      return inline(asSentence(sentence(where, state, approval)), 300);
    default:
      return unmetAtLastPoll(approval) ?? 'A newer request replaces it.';
  }
}

/** The first unmet criterion of the last poll. */
function unmetAtLastPoll({ decision }: Approval): string | undefined {
  const seen = decision?.reasons.find(({ status }) => status === 'unmet');
  return seen && inline(asSentence(seen.summary), 300);
}

function people(logins: readonly string[]): string {
  return listed(
    logins.map((login) => code(login)),
    'and',
  );
}
