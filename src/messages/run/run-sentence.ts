import { unreachable } from '../../core/errors.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Finding } from '../../domain/outcome/finding.ts';
import { SEVERITIES } from '../../domain/outcome/finding.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { needsReview } from '../../domain/policy/countersign-rules.ts';
import { type Run, type RunState, rulesAsked } from '../../domain/run/run.ts';
import { code } from '../text/markdown.ts';
import { capital, clip, listed, plural, reactionEmoji } from '../text/pretty.ts';
import { neededFor } from './countersigns-needed.ts';
import { answerableStep, type RunSummary } from './run-summary.ts';

/** About as many characters as GitHub shows in its list of checks. */
export const MAX_TITLE = 200;

/**
 * The state in one plain sentence without a full stop: the title of the check run and the heading of the
 * comment.
 */
export function sentence(where: RunSummary, state: RunState, approval: Approval | null): string {
  return clip(fullSentence(where, state, approval), MAX_TITLE);
}

function fullSentence(where: RunSummary, state: RunState, approval: Approval | null): string {
  switch (where.kind) {
    case 'queued':
      return 'Waiting to start';
    case 'paused':
      return 'Paused';
    case 'working':
      return working(where.steps, state.run);
    case 'waiting_ci':
      return `Waiting for CI${where.step.reason ? `: ${where.step.reason.summary}` : ''}`;
    case 'waiting_countersign':
      return waitingForCountersign(state, approval);
    case 'countersigned':
      return `Countersigned by ${listed(where.by, 'and')}: continuing`;
    case 'ready_to_merge':
      return `Countersigned by ${listed(where.by, 'and')}: ${where.how === 'people' ? 'ready for the merge button' : 'in the merge queue'}`;
    case 'waiting_github':
      return where.by.length === 0
        ? 'Waiting for GitHub, which does not answer'
        : `Countersigned by ${listed(where.by, 'and')}: waiting for GitHub, which does not answer`;
    case 'held_back':
    case 'conflict':
      return capital(where.because);
    case 'waiting_retry':
      return `Trying ${where.step.stepId} again soon`;
    case 'merged':
      return where.by.length === 0 ? 'Merged' : `Merged: countersigned by ${listed(where.by, 'and')}`;
    case 'done':
      return 'Done';
    case 'changes_requested':
      return `Changes requested: ${severities(where.review.findings)}`;
    case 'review_incomplete':
      return `Review incomplete: ${where.because}`;
    case 'ci_failed':
      return `CI has not passed: ${where.because}`;
    case 'no_checks':
      return 'Not merged: no checks ran, and the settings ask for some';
    case 'not_passed':
      return `Step ${where.step} did not pass: ${where.because}`;
    case 'rejected':
      return where.by.length === 0 ? 'Rejected by a maintainer' : `Rejected by ${listed(where.by, 'and')}`;
    case 'not_mergeable':
      return capital(where.because);
    case 'step_failed':
      return `Step ${where.step} failed: ${where.because}`;
    case 'timed_out':
      return `Step ${where.step} timed out`;
    case 'not_merged':
      return `Not merged: ${where.because}`;
    case 'withheld':
      return capital(where.because);
    case 'ended_early':
      return `Step ${where.step} ended the chain: ${where.because}`;
    case 'superseded':
      return 'Superseded by a newer push';
    case 'newer_run':
      return `Replaced by a newer run of this chain${where.by.length === 0 ? '' : `, started by ${listed(where.by, 'and')}`}`;
    case 'closed':
      return 'Stopped: the pull request was closed';
    case 'merged_elsewhere':
      return 'Stopped: somebody merged the pull request by hand';
    case 'merged_by_chain':
    case 'rollout_changed':
    case 'parent_ended':
      return `Stopped: ${where.because}`;
    case 'draft':
      return 'Stopped: the pull request is a draft';
    case 'retargeted':
      return 'Stopped: the pull request has a new base branch';
    case 'not_triggered':
      return 'Stopped: this chain no longer applies to the pull request';
    case 'settings_changed':
      return 'Stopped: the settings on the governing branch changed';
    case 'chain_changed':
      return 'Stopped: the chain changed on the governing branch';
    case 'stopped':
      return where.by.length === 0 ? 'Cancelled' : `Cancelled by ${listed(where.by, 'and')}`;
    case 'installation_gone':
      return 'Stopped: the app was removed from this repository';
    case 'shut_out':
      return 'Stopped: GitHub refuses this app here';
    default:
      return unreachable(where);
  }
}

function working(steps: readonly { stepIndex: number; stepId: string }[], run: Run): string {
  const parts = steps.map((step) => {
    switch (run.definition.steps[step.stepIndex]?.uses.name) {
      case 'pr-review':
      case 'codex-pr-review':
        return reviewing(run);
      case 'ci':
        return 'reading the results of CI';
      case 'gh-merge':
        return 'merging';
      case 'gh-comment':
        return 'writing a comment';
      default:
        return `running ${step.stepId}`;
    }
  });
  return capital(listed([...new Set(parts)], 'and'));
}

function reviewing(run: Run): string {
  const files = run.facts.trigger.changed_files;
  return typeof files === 'number' ? `reviewing ${plural(files, 'file')}` : 'reviewing';
}

function waitingForCountersign(state: RunState, approval: Approval | null): string {
  const count = neededFor(state, approval);
  const given = approval?.countersignedBy.length ?? 0;
  const missing = given < count ? undefined : approval?.decision?.reasons.find(isPending)?.summary;
  if (approval && missing !== undefined)
    return `Countersigned by ${listed(approval.countersignedBy, 'and')}; ${missing}`;
  if (count === 1) return 'Waiting for a maintainer to countersign';
  return given === 0
    ? `Waiting for ${count} maintainers to countersign`
    : `Waiting for maintainers to countersign: ${given} of ${count} did`;
}

function isPending({ status }: Explanation): boolean {
  return status === 'pending';
}

/** `2 critical, 1 high`, most severe first; `no findings`. */
export function severities(findings: readonly Finding[]): string {
  const counts = SEVERITIES.map((severity) => ({
    severity,
    count: findings.filter((finding) => finding.severity === severity).length,
  }));
  const parts = counts.filter(({ count }) => count > 0).map(({ severity, count }) => `${count} ${severity}`);
  return parts.length === 0 ? 'no findings' : parts.join(', ');
}

/**
 * Who has to do what for the run to continue, as Markdown without untrusted text; `undefined` if nobody has
 * to do anything and nothing more will happen.
 */
export function nextStep(where: RunSummary, state: RunState, approval: Approval | null): string | undefined {
  const { countersign } = state.run.settings;
  switch (where.kind) {
    case 'queued':
    case 'working':
    case 'waiting_retry':
    case 'countersigned':
      return 'Nothing to do: this continues by itself.';
    case 'paused':
      return 'A maintainer can comment `/countersign resume` to continue.';
    case 'waiting_ci':
      return 'Nothing to do: this continues when CI is done.';
    case 'waiting_countersign': {
      const given = approval?.countersignedBy.length ?? 0;
      const count = neededFor(state, approval);
      if (given >= count && lacksReview(state, approval))
        return 'One of those who may countersign approves this commit in a review on GitHub.';
      const left = Math.max(1, count - given);
      const another = given === 0 ? 'A maintainer' : 'Another maintainer';
      const needed =
        left === 1 ? `${another} reacts` : `${left} ${given === 0 ? '' : 'more '}maintainers react`;
      const step = answerableStep(state, approval);
      const how = `${needed} to the approval comment with ${emoji(countersign.approve)}`;
      return step === undefined
        ? `${how} to merge${orToStop(countersign.reject)}.${reviewToo(state, approval)}`
        : `${how} to continue${orToStop(countersign.reject)}. The button Approve on the check run and ${code(`/countersign approve ${step}`)} do the same.`;
    }
    case 'ready_to_merge':
      return where.how === 'people'
        ? "Anybody with write access can press GitHub's merge button now."
        : "Nothing to do: GitHub's merge queue merges it.";
    case 'waiting_github':
      return where.asks && where.by.length === 0
        ? 'Countersign tries again by itself. Reactions to the approval comment count once GitHub answers.'
        : 'Nothing to do: Countersign tries again by itself.';
    case 'held_back':
      return 'Once that is resolved, this continues by itself. `/countersign why` explains it step by step.';
    case 'conflict':
      return 'Merge the base branch into the branch of this pull request, or rebase it, and push. The new commit gets a run of its own. If a change of the base branch ends the conflict, this continues.';
    case 'changes_requested':
      return 'Push a fix, and Countersign reviews the new commit. If a finding is intended, somebody who may countersign accepts it: `/countersign accept <finding> because <reason>`.';
    case 'review_incomplete':
      return 'An incomplete review approves nothing. `/countersign review` tries again.';
    case 'ci_failed':
      return 'Push a fix, or run the checks again. This continues once they pass.';
    case 'no_checks':
      return 'Add a check that runs on pull requests, or set `ci: {no_checks: allow}` in `.github/countersign.yml`.';
    case 'rejected':
      return 'Talk to whoever rejected it, or push a new commit: Countersign reviews it and asks again.';
    case 'not_mergeable':
      return 'Resolve what GitHub names (a conflict, a branch rule, a missing review), then comment `/countersign rerun`.';
    case 'not_passed':
      return 'Resolve what it names, then comment `/countersign rerun`.';
    case 'step_failed':
    case 'timed_out':
      return '`/countersign rerun` tries again.';
    case 'not_merged':
      return '`/countersign why` lists what was missing.';
    case 'withheld':
      return 'Nothing to do: the rollout lets nobody be asked here. Once it is `enforce`, the next event of the pull request begins a new run.';
    case 'rollout_changed':
      return 'If chains may run here, those that are for the pull request start again.';
    case 'ended_early':
      return 'To run it again, comment `/countersign rerun`.';
    case 'superseded':
      return 'The newer commit gets a run of its own. If it has none, `/countersign why` explains why.';
    case 'newer_run':
      return 'The newer run has a check run of its own.';
    case 'closed':
      return 'Countersign starts again when the pull request is reopened.';
    case 'draft':
      return 'Countersign starts again when the pull request is ready for review.';
    case 'retargeted':
      return 'The results for the old base do not apply to the new one. Chains for the new base start from the beginning.';
    case 'settings_changed':
      return 'Chains for the pull request start again with the new settings. A chain that was started by hand must be started by hand again.';
    case 'chain_changed':
      return 'Chains for the pull request start again as they are now. A chain that was started by hand must be started by hand again.';
    case 'parent_ended':
      return 'If that step runs again, so does this chain.';
    case 'stopped':
      return '`/countersign review` starts again.';
    case 'merged':
    case 'done':
    case 'merged_elsewhere':
    case 'merged_by_chain':
    case 'not_triggered':
    case 'installation_gone':
      return undefined;
    case 'shut_out':
      return 'The installation was removed, suspended or lost a permission. `/countersign review` tries again.';
    default:
      return unreachable(where);
  }
}

/** What a question asks for beside the reactions, while it is missing. */
function reviewToo(state: RunState, approval: Approval | null): string {
  return lacksReview(state, approval) ? ' One of them also approves this commit in a review on GitHub.' : '';
}

function lacksReview(state: RunState, approval: Approval | null): boolean {
  return needsReview(rulesAsked(state, approval)) && !approval?.reviews?.approved_by.length;
}

function orToStop(reject: readonly string[]): string {
  return reject.length === 0 ? '' : `, or with ${emoji(reject)} to reject`;
}

/** `🚀 or 👍`. */
export function emoji(reactions: readonly string[]): string {
  return reactions.length === 0
    ? 'no reaction (the settings allow none)'
    : listed(reactions.map(reactionEmoji), 'or');
}
