import { unreachable } from '../../core/errors.ts';
import type { Reason, ReasonCode } from '../../domain/explanation/reason.ts';
import type { ActionResult } from '../../domain/outcome/action-result.ts';
import type { CiResult } from '../../domain/outcome/ci-result.ts';
import type { Outcome, OutcomeKind } from '../../domain/outcome/outcome.ts';
import { brokenOff, type ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { actionNamed } from '../../domain/policy/capability.ts';
import { endsChain } from '../../domain/run/completed.ts';
import { type Invocation, isMergeStep, isRunOver, type RunState } from '../../domain/run/run.ts';

const WAITS_FOR_MORE_THAN_TIME: readonly ReasonCode[] = [
  'step.waiting.gate',
  'step.waiting.until',
  'step.waiting.chain',
];

/**
 * The state of a run in as many kinds as readers need to distinguish. The run's own statuses are too coarse:
 * a review that requests changes and one that could not be finished are both "completed", but require
 * different actions.
 */
export type RunSummary =
  | { kind: 'queued' }
  | { kind: 'paused' }
  | { kind: 'working'; steps: readonly Invocation[] }
  | { kind: 'waiting_ci'; step: Invocation }
  | { kind: 'waiting_countersign' }
  | { kind: 'countersigned'; by: readonly string[] }
  | { kind: 'ready_to_merge'; by: readonly string[]; how: 'people' | 'queue' }
  | { kind: 'waiting_github'; asks: boolean; by: readonly string[] }
  | { kind: 'held_back'; because: string }
  | { kind: 'conflict'; because: string }
  | { kind: 'waiting_retry'; step: Invocation }
  | { kind: 'merged'; by: readonly string[]; commit: string }
  | { kind: 'done' }
  | { kind: 'changes_requested'; review: ReviewVerdict }
  | { kind: 'review_incomplete'; because: string }
  | { kind: 'ci_failed'; because: string }
  | { kind: 'no_checks' }
  | { kind: 'not_passed'; step: string; because: string }
  | { kind: 'rejected'; by: readonly string[] }
  | { kind: 'not_mergeable'; because: string }
  | { kind: 'step_failed'; step: string; because: string }
  | { kind: 'timed_out'; step: string }
  | { kind: 'not_merged'; because: string }
  /** The rollout let nobody be asked. */
  | { kind: 'withheld'; because: string }
  | { kind: 'ended_early'; step: string; because: string }
  | { kind: 'superseded' }
  /** A person started the same chain again for the same head. */
  | { kind: 'newer_run'; by: readonly string[] }
  | { kind: 'closed' }
  | { kind: 'merged_elsewhere' }
  /** Another chain of this app merged the pull request. */
  | { kind: 'merged_by_chain'; because: string }
  | { kind: 'draft' }
  | { kind: 'retargeted' }
  | { kind: 'not_triggered' }
  | { kind: 'rollout_changed'; because: string }
  | { kind: 'settings_changed' }
  | { kind: 'chain_changed' }
  /** It was a step of another run, and the step ended first. */
  | { kind: 'parent_ended'; because: string }
  | { kind: 'stopped'; by: readonly string[] }
  | { kind: 'installation_gone' }
  | { kind: 'shut_out' };

export function runSummary(state: RunState, approval: Approval | null): RunSummary {
  return isRunOver(state.run.status) ? ended(state) : unfinished(state, approval);
}

function unfinished({ run, invocations }: RunState, approval: Approval | null): RunSummary {
  if (run.paused) return { kind: 'paused' };
  const working = invocations.filter((step) => step.status === 'running');
  if (working.length > 0) return { kind: 'working', steps: working };
  const asking = invocations.filter((step) => step.status === 'waiting_approval');
  if (asking.length > 0) return approvalSummary(asking, approval);
  const ci = invocations.find((step) => step.status === 'waiting_ci');
  if (ci) return isInterrupted(ci) ? interrupted() : { kind: 'waiting_ci', step: ci };
  const later = invocations.find((step) => step.status === 'waiting_until');
  if (later && isInterrupted(later)) return interrupted();
  if (later && isConflicting(later)) return conflict(later);
  if (later?.reason?.code === 'step.waiting.mergeability')
    return { kind: 'held_back', because: later.reason.summary };
  if (later?.reason && WAITS_FOR_MORE_THAN_TIME.includes(later.reason.code))
    return { kind: 'held_back', because: `step ${later.stepId} waits: ${later.reason.summary}` };
  return later ? { kind: 'waiting_retry', step: later } : { kind: 'queued' };
}

/**
 * Two parallel steps may wait for approval. While GitHub is available to one of them, the run waits for
 * people.
 */
function approvalSummary(steps: readonly Invocation[], approval: Approval | null): RunSummary {
  const decision = approval?.decision;
  const by = decision?.status === 'met' ? (approval?.countersignedBy ?? []) : [];
  if (steps.every(isInterrupted)) return { kind: 'waiting_github', asks: true, by };
  const [first] = steps;
  if (first && steps.every(isConflicting)) return conflict(first);
  if (decision?.status === 'unmet') return { kind: 'held_back', because: decision.summary };
  const how = readyHow(steps);
  if (how) return { kind: 'ready_to_merge', by, how };
  return by.length > 0 ? { kind: 'countersigned', by } : { kind: 'waiting_countersign' };
}

/** If the gate is open, who merges: people with the button, or the merge queue. */
function readyHow(steps: readonly Invocation[]): 'people' | 'queue' | undefined {
  const codes = steps.map(({ reason }) => reason?.code);
  if (codes.includes('step.waiting.merge_button')) return 'people';
  return codes.includes('step.waiting.merge_queue') ? 'queue' : undefined;
}

function isInterrupted({ reason }: Invocation): boolean {
  return reason?.code === 'step.waiting.github';
}

function isConflicting({ reason }: Invocation): boolean {
  return reason?.code === 'step.waiting.conflict';
}

function conflict({ reason }: Invocation): RunSummary {
  return {
    kind: 'conflict',
    because: reason?.summary.replace(/^not merging: /, '') ?? 'there is a conflict',
  };
}

function interrupted(): RunSummary {
  return { kind: 'waiting_github', asks: false, by: [] };
}

function ended(state: RunState): RunSummary {
  const { run } = state;
  switch (run.status) {
    case 'completed':
      return completed(state);
    case 'failed':
      return failedRun(state);
    case 'timed_out':
      return { kind: 'timed_out', step: failedStep(state)?.stepId ?? '' };
    case 'cancelled':
    case 'aborted':
      return stopped(run.reason, peopleIn(run.reason));
    case 'running':
    case 'waiting_ci':
    case 'waiting_approval':
    case 'waiting_until':
      throw new Error(`run ${run.id} is not over`);
    default:
      return unreachable(run.status);
  }
}

function completed(state: RunState): RunSummary {
  const { run, invocations } = state;
  const merge = mergeOf(state);
  if (merge) {
    const { sha, countersigned_by } = merge.details;
    return {
      kind: 'merged',
      by: Array.isArray(countersigned_by) ? countersigned_by : [],
      commit: typeof sha === 'string' ? sha : '',
    };
  }
  const review = outcomesOf(state, 'review_verdict').find((outcome) => outcome.passed === false);
  if (review) return { kind: 'changes_requested', review };
  const undecided = outcomesOf(state, 'review_verdict').find((outcome) => outcome.passed === null);
  if (undecided) return { kind: 'review_incomplete', because: incompleteBecause(undecided) };
  for (const ci of outcomesOf(state, 'ci_result')) {
    if (ci.passed === false) return { kind: 'ci_failed', because: ciInWords(ci) };
    if (ci.checks.length === 0 && run.settings.ci.no_checks !== 'allow') return { kind: 'no_checks' };
  }
  const notPassed = invocations.find((step) => step.outcome?.passed === false);
  if (notPassed?.outcome)
    return { kind: 'not_passed', step: notPassed.stepId, because: notPassed.outcome.summary };
  const ending = invocations.find(endsChain);
  if (ending)
    return {
      kind: 'ended_early',
      step: ending.stepId,
      because: ending.outcome?.summary ?? 'no reason is recorded',
    };
  if (run.reason?.code === 'run.completed.rollout') return { kind: 'withheld', because: run.reason.summary };
  if (run.reason?.code === 'run.completed') return { kind: 'done' };
  // A step with `on_failure: continue` failed, so the steps that depend on it did not run.
  if (failedStep(state)) return failedRun(state);
  return { kind: 'not_merged', because: run.reason?.summary ?? 'the merge step was skipped' };
}

function failedRun(state: RunState): RunSummary {
  const step = failedStep(state);
  const because = step?.reason?.summary ?? state.run.reason?.summary ?? 'no reason is recorded';
  switch (step?.reason?.code) {
    case 'step.failed.rejected':
      return { kind: 'rejected', by: peopleIn(step.reason) };
    case 'step.failed.not_mergeable':
      return { kind: 'not_mergeable', because };
    case 'step.failed.ci_wait':
      return { kind: 'ci_failed', because };
    case 'step.failed.incomplete':
      return { kind: 'review_incomplete', because };
    default:
      if (step?.status === 'timed_out') return { kind: 'timed_out', step: step.stepId };
      return { kind: 'step_failed', step: step?.stepId ?? '', because };
  }
}

function stopped(reason: Reason | null, by: readonly string[]): RunSummary {
  switch (reason?.code) {
    case 'run.cancelled.superseded':
      return { kind: 'superseded' };
    case 'run.cancelled.newer_run':
      return { kind: 'newer_run', by };
    case 'run.cancelled.closed':
      return { kind: 'closed' };
    case 'run.cancelled.merged_elsewhere':
      return { kind: 'merged_elsewhere' };
    case 'run.cancelled.merged_by_chain':
      return { kind: 'merged_by_chain', because: reason.summary };
    case 'run.cancelled.draft':
      return { kind: 'draft' };
    case 'run.cancelled.retargeted':
      return { kind: 'retargeted' };
    case 'run.cancelled.not_triggered':
      return { kind: 'not_triggered' };
    case 'run.cancelled.rollout':
      return { kind: 'rollout_changed', because: reason.summary };
    case 'run.cancelled.settings_changed':
      return { kind: 'settings_changed' };
    case 'run.cancelled.chain_changed':
      return { kind: 'chain_changed' };
    case 'run.cancelled.parent_ended':
      return { kind: 'parent_ended', because: reason.summary };
    case 'run.aborted.installation_gone':
    case 'run.aborted.repository_gone':
      return { kind: 'installation_gone' };
    case 'run.aborted.shut_out':
      return { kind: 'shut_out' };
    default:
      return { kind: 'stopped', by };
  }
}

function failedStep({ invocations }: RunState): Invocation | undefined {
  return invocations.find((step) => step.status === 'failed' || step.status === 'timed_out');
}

function peopleIn(reason: RunState['run']['reason']): string[] {
  return (reason?.evidence ?? []).filter(({ kind }) => kind === 'person').map(({ label }) => label);
}

/**
 * The step whose open approval comment can also be answered by command or button: one that merges nothing.
 */
export function answerableStep(
  { run, invocations }: RunState,
  approval: Approval | null,
): string | undefined {
  const step = invocations.find(({ id }) => id === approval?.invocationId);
  const isOpen = approval?.status === 'open' && step?.status === 'waiting_approval';
  return isOpen && !isMergeStep(run, step) ? step.stepId : undefined;
}

/** The outcomes of one kind, in step order. */
export function outcomesOf<K extends OutcomeKind>(
  { invocations }: RunState,
  kind: K,
): Extract<Outcome, { outcome_kind: K }>[] {
  return invocations
    .map((step) => step.outcome)
    .filter((outcome): outcome is Extract<Outcome, { outcome_kind: K }> => outcome?.outcome_kind === kind);
}

/** The result of the merge step, if it merged. */
export function mergeOf(state: RunState): ActionResult | undefined {
  return outcomesOf(state, 'action_result').find(
    (outcome) => actionNamed(outcome.action)?.merges && outcome.passed === true,
  );
}

/** For example `2 of 5 checks failed`. */
export function ciInWords({ checks }: CiResult): string {
  if (checks.length === 0) return 'no checks ran';
  const of = (state: string) => checks.filter((check) => check.state === state).length;
  const noun = checks.length === 1 ? 'check' : 'checks';
  if (of('failed') > 0) return `${of('failed')} of ${checks.length} ${noun} failed`;
  if (of('pending') > 0) return `${checks.length - of('pending')} of ${checks.length} ${noun} are done`;
  return checks.length === 1 ? 'the only check passed' : `all ${checks.length} checks passed`;
}

/** For example `oxlint timed out` or `2 files were not reviewed`. */
function incompleteBecause(review: ReviewVerdict): string {
  const faulty = brokenOff(review.analyzers);
  if (faulty.length > 0) return faulty.join(', ');
  const left = new Set(review.left_out.map(({ path }) => path)).size;
  return left === 0
    ? 'no verdict was reached'
    : `${left} ${left === 1 ? 'file was' : 'files were'} not reviewed`;
}
