import { PARALLEL_STEPS, type Step } from '../chain/chain.ts';
import { dependentsOf } from '../chain/graph.ts';
import { type EvidenceRef, stepRef, subjectRef } from '../explanation/evidence.ts';
import { pointingTo, type Reason, reason } from '../explanation/reason.ts';
import { asksAbout, compileExpression, evaluateCondition } from '../expression/condition.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { completedReason, doneReason, endsChain } from './completed.ts';
import { conditionContext } from './context.ts';
import {
  type Invocation,
  isRunOver,
  isStepOver,
  NOT_BEGUN,
  type RunState,
  type RunStatus,
  type StepStatus,
  type WaitingFor,
  waitingFor,
} from './run.ts';
import { endedText, whyConditionIsFalse } from './why-condition-is-false.ts';

/** A session's report about its step. */
export type SessionResult =
  | { kind: 'done'; outcome: Outcome; artifactId: string }
  | { kind: 'waits'; for: WaitingFor; until: Date; reason: Reason }
  | { kind: 'failed'; reason: Reason; retryable: boolean }
  /** The rollout does not let the step go on. The steps that depend on it are skipped. */
  | { kind: 'withheld'; outcome: Outcome; artifactId: string; reason: Reason };

/** Everything that can change a run. */
export type Signal =
  | { kind: 'start' }
  | { kind: 'session'; sessionId: string; result: SessionResult }
  /** The conditions of waiting steps may have changed, so they recheck. */
  | { kind: 'wake'; for: readonly WaitingFor[] }
  /** Time has passed: waits and deadlines may be due. */
  | { kind: 'time' }
  | { kind: 'end'; status: 'cancelled' | 'aborted'; reason: Reason }
  /** With a file, a review reads only that one again, and keeps the rest of its outcome. */
  | { kind: 'rerun'; stepIndex: number; file?: string }
  /** The outcome of a step that is done was judged again. */
  | { kind: 'judged'; stepIndex: number; outcome: Outcome; artifactId: string }
  | { kind: 'pause' }
  | { kind: 'resume' };

/** A task for the engine after a transition. The engine adds ids and does the I/O. */
export type Command =
  /** Begin a new session for the step. */
  | { kind: 'start'; stepIndex: number }
  /** Let the step's waiting session recheck. */
  | { kind: 'poll'; stepIndex: number; because: 'time' | 'event' }
  /** End a session in progress with this status and reason. Its result would be refused anyway. */
  | { kind: 'abort'; sessionId: string; status: 'cancelled' | 'timed_out'; reason: Reason };

const MAX_BACKOFF_MS = 86_400_000;

/**
 * The state machine of a run: pure and total. Late, duplicate and reordered signals lead to the same state,
 * because a signal that no longer applies changes nothing.
 */
export function transition(
  before: RunState,
  signal: Signal,
  now: Date,
): { state: RunState; commands: Command[] } {
  const work = new Transition(before, now);
  work.apply(signal);
  return { state: work.state, commands: work.commands };
}

class Transition {
  readonly state: RunState;
  readonly commands: Command[] = [];
  private readonly now: Date;

  constructor(before: RunState, now: Date) {
    this.state = {
      ...before,
      run: { ...before.run },
      invocations: before.invocations.map((step) => ({ ...step })),
    };
    this.now = now;
  }

  apply(signal: Signal): void {
    if (isRunOver(this.state.run.status) && signal.kind !== 'rerun' && signal.kind !== 'judged') return;
    switch (signal.kind) {
      case 'start':
        break;
      case 'session':
        this.session(signal.sessionId, signal.result);
        break;
      case 'wake':
        this.recheck((step) => {
          // What a running step has read may be older than the change, and it may wait for just that.
          const waits = step.status === 'running' ? 'ci' : waitingFor(step.status);
          return waits !== undefined && signal.for.includes(waits) && step.sessionId !== null;
        });
        break;
      case 'time':
        this.time();
        break;
      case 'end':
        this.end(signal.status, signal.reason);
        return;
      case 'rerun':
        if (!this.rerun(signal)) return;
        break;
      case 'judged':
        if (!this.judged(signal)) return;
        break;
      case 'pause':
        this.state.run.paused = true;
        break;
      case 'resume':
        this.state.run.paused = false;
        this.recheck(({ status, sessionId }) => {
          const waits = waitingFor(status);
          return waits === 'approval' || (waits === 'until' && sessionId !== null);
        });
        break;
    }
    this.settle();
    this.withdrawCommands();
  }

  private session(sessionId: string, result: SessionResult): void {
    const step = this.state.invocations.find((candidate) => candidate.sessionId === sessionId);
    if (!step || isStepOver(step.status)) return;
    switch (result.kind) {
      case 'done':
        step.outcome = result.outcome;
        step.outcomeArtifactId = result.artifactId;
        this.endStep(step, 'completed', doneReason(result));
        return;
      case 'withheld':
        step.outcome = result.outcome;
        step.outcomeArtifactId = result.artifactId;
        this.endStep(step, 'skipped', result.reason);
        return;
      case 'waits':
        step.status = `waiting_${result.for}`;
        step.reason = result.reason;
        step.waitUntil = result.until;
        return;
      case 'failed': {
        const { retry } = this.definition(step);
        if (!result.retryable || step.attempts >= retry.attempts) {
          this.endStep(step, 'failed', result.reason);
          return;
        }
        const backoff = Math.min(retry.backoffMs * 2 ** (step.attempts - 1), MAX_BACKOFF_MS);
        step.status = 'waiting_until';
        step.waitUntil = new Date(this.now.getTime() + backoff);
        step.sessionId = null;
        step.reason = reason(
          'step.waiting.retry',
          `attempt ${step.attempts} of ${retry.attempts} failed (${result.reason.summary}); trying again`,
          result.reason.evidence,
        );
      }
    }
  }

  private time(): void {
    for (const step of this.state.invocations) {
      if (isStepOver(step.status)) continue;
      if (step.deadlineAt && step.deadlineAt <= this.now) {
        this.endEarly(
          step,
          'timed_out',
          reason('step.timed_out', `${step.stepId} took longer than it may`, [stepRef(step)]),
        );
      } else if (step.waitUntil && step.waitUntil <= this.now) {
        step.waitUntil = null;
        // A retry becomes pending like any other step, so that a pause and the limit on parallel steps apply
        // to it.
        if (step.sessionId === null) step.status = 'pending';
        else this.commands.push({ kind: 'poll', stepIndex: step.stepIndex, because: 'time' });
      }
    }
  }

  private recheck(which: (step: Invocation) => boolean): void {
    for (const step of this.state.invocations.filter(which)) {
      this.commands.push({ kind: 'poll', stepIndex: step.stepIndex, because: 'event' });
    }
  }

  private end(status: 'cancelled' | 'aborted', because: Reason): void {
    for (const step of this.state.invocations) {
      if (isStepOver(step.status)) continue;
      this.cutShort(step, because.summary, because.evidence);
    }
    this.endRun(status, because);
  }

  /** Ends a step because its run ends: skips it if it has not begun, cancels it if it is in progress. */
  private cutShort(step: Invocation, because: string, evidence: EvidenceRef[]): void {
    if (step.status === 'pending') {
      this.endStep(step, 'skipped', reason('step.skipped.run_ended', because, evidence));
    } else {
      this.endEarly(step, 'cancelled', reason('step.cancelled', because, evidence));
    }
  }

  /** Returns false, without a change, if there is nothing to run again. */
  private rerun({ stepIndex, file }: Extract<Signal, { kind: 'rerun' }>): boolean {
    const { run, invocations } = this.state;
    const first = invocations[stepIndex];
    // The step that waited for a run of another chain has its outcome, and can be run again itself.
    if (!first || run.facts.parent || run.status === 'cancelled' || run.status === 'aborted') return false;
    const oneFile = file === undefined ? null : { path: file, rest: first.outcomeArtifactId };
    const again = new Set([first.stepId, ...dependentsOf(run.definition.steps, first.stepId)]);
    for (const step of invocations) {
      const cutShort =
        step.reason?.code === 'step.skipped.run_ended' || step.reason?.code === 'step.cancelled';
      if (!again.has(step.stepId) && !cutShort) continue;
      this.abort(step, 'cancelled', reason('step.cancelled', `${first.stepId} is run again`));
      Object.assign(step, NOT_BEGUN);
    }
    first.oneFile = oneFile;
    run.status = 'running';
    run.reason = null;
    run.finishedAt = null;
    return true;
  }

  /**
   * Gives a step another outcome, and lets the steps that were skipped because of the former one be looked at again. A
   * step that ran stays as it is: what it did cannot be taken back. Returns false if nothing else changes in the run.
   */
  private judged({ stepIndex, outcome, artifactId }: Extract<Signal, { kind: 'judged' }>): boolean {
    const { run, invocations } = this.state;
    const judged = invocations[stepIndex];
    if (judged?.status !== 'completed' || judged.outcome === null) return false;
    const isOver = isRunOver(run.status);
    // A run of a step of another run has told it its end, and what was cancelled stays cancelled.
    if (isOver && (run.facts.parent || run.status === 'cancelled' || run.status === 'aborted')) return false;
    const before = judged.outcome;
    judged.outcome = outcome;
    judged.outcomeArtifactId = artifactId;
    judged.reason = pointingTo(doneReason({ outcome, artifactId }), stepRef(judged));
    this.recheck(({ status }) => waitingFor(status) === 'approval');
    const isOther = before.passed !== outcome.passed || verdictIn(before) !== verdictIn(outcome);
    const dependents = new Set(dependentsOf(run.definition.steps, judged.stepId));
    const skipped = invocations.filter(
      ({ stepId, reason: because }) =>
        dependents.has(stepId) &&
        (because?.code === 'step.skipped.condition' || because?.code === 'step.skipped.dependency'),
    );
    if (!isOther || skipped.length === 0) {
      if (run.status === 'completed') run.reason = pointingTo(completedReason(this.state), subjectRef(run));
      return !isOver;
    }
    for (const step of skipped) Object.assign(step, NOT_BEGUN);
    run.status = 'running';
    run.reason = null;
    run.finishedAt = null;
    return true;
  }

  /** Starts and skips every step that is ready, then sets the status of the run. */
  private settle(): void {
    const { run, invocations } = this.state;
    for (let changed = true; changed; ) {
      changed = false;
      const broken = invocations.find((step) => this.breaksRun(step));
      if (broken) {
        this.breakRun(broken);
        return;
      }
      if (invocations.some(endsChain)) break;
      for (const step of invocations) {
        if (step.status === 'pending' && this.dependenciesAreOver(step))
          changed = this.enter(step) || changed;
      }
    }
    const ending = invocations.find(endsChain);
    if (ending) {
      for (const step of invocations) {
        if (isStepOver(step.status)) continue;
        this.cutShort(step, `${ending.stepId} ended the chain`, [stepRef(ending)]);
      }
    }
    if (invocations.every((step) => isStepOver(step.status))) {
      this.endRun('completed', completedReason(this.state));
      return;
    }
    const { status, because } = overall(invocations, run.paused);
    run.status = status;
    run.reason = run.paused
      ? reason('step.waiting.paused', 'the pull request is paused; `/countersign resume` goes on')
      : because;
  }

  /** Drops commands for steps that the same signal ended. */
  private withdrawCommands(): void {
    const remaining = this.commands.filter(
      (command) =>
        command.kind === 'abort' ||
        !isStepOver(this.state.invocations[command.stepIndex]?.status ?? 'cancelled'),
    );
    this.commands.splice(0, this.commands.length, ...remaining);
  }

  /**
   * Starts or skips a pending step whose dependencies are over. Returns false if it must stay pending for
   * now.
   */
  private enter(step: Invocation): boolean {
    const definition = this.definition(step);
    const condition =
      definition.condition === undefined ? undefined : compileExpression(definition.condition);
    // In a sequence that nobody wrote down as dependencies, a step's own condition decides, whatever became of
    // the step before: "comment if the review wants changes" may follow a merge that was skipped.
    const isFree = condition !== undefined && definition.inSequence;
    const missing = this.dependencies(step).find(
      (other) =>
        !isFree &&
        other.status !== 'completed' &&
        !this.mayContinueAfter(other) &&
        // Otherwise a step would run although a step that it depends on was skipped.
        !(condition && asksAbout(condition, { id: other.stepId, index: other.stepIndex })),
    );
    if (missing) {
      const because = `${missing.stepId}, which it depends on, ${endedText(missing.status)}`;
      this.endStep(step, 'skipped', reason('step.skipped.dependency', because, [stepRef(missing)]));
      return true;
    }
    if (condition && !evaluateCondition(condition, conditionContext(this.state, step.stepId))) {
      const because =
        whyConditionIsFalse(this.state, step.stepId, condition.source) ?? 'its condition is false';
      this.endStep(step, 'skipped', reason('step.skipped.condition', because));
      return true;
    }
    const running = this.state.invocations.filter((other) => other.status === 'running').length;
    const { paused, definition: chain } = this.state.run;
    // Limited, so that one run does not crowd out others.
    if (paused || running >= (chain.maxParallel ?? PARALLEL_STEPS.usual)) return false;
    this.start(step);
    return true;
  }

  private start(step: Invocation): void {
    const { timeoutMs } = this.definition(step);
    step.status = 'running';
    step.attempts += 1;
    step.reason = null;
    step.waitUntil = null;
    step.startedAt ??= this.now;
    step.deadlineAt ??= timeoutMs === undefined ? null : new Date(this.now.getTime() + timeoutMs);
    this.commands.push({ kind: 'start', stepIndex: step.stepIndex });
  }

  private breakRun(broken: Invocation): void {
    const evidence = [stepRef(broken)];
    for (const step of this.state.invocations) {
      if (isStepOver(step.status)) continue;
      this.cutShort(step, `${broken.stepId} ${statusText(broken.status)} before it`, evidence);
    }
    const summary = `${broken.stepId}: ${broken.reason?.summary ?? statusText(broken.status)}`;
    if (broken.status === 'timed_out')
      this.endRun('timed_out', reason('run.timed_out.step', summary, evidence));
    else if (broken.reason?.code === 'step.failed.missing_artifact') {
      const because = reason('run.failed.missing_artifact', summary, [
        ...evidence,
        ...broken.reason.evidence,
      ]);
      this.endRun('failed', because);
    } else this.endRun('failed', reason('run.failed.step', summary, evidence));
  }

  private endStep(step: Invocation, status: StepStatus, because: Reason): void {
    step.status = status;
    step.reason = pointingTo(because, stepRef(step));
    step.waitUntil = null;
    step.finishedAt = this.now;
  }

  private endRun(status: RunStatus, because: Reason): void {
    const { run } = this.state;
    run.status = status;
    run.reason = pointingTo(because, subjectRef(run));
    run.updatedAt = this.now;
    run.finishedAt = this.now;
  }

  /** Ends a step together with its session in progress. */
  private endEarly(step: Invocation, status: 'cancelled' | 'timed_out', because: Reason): void {
    this.abort(step, status, because);
    this.endStep(step, status, because);
  }

  private abort(step: Invocation, status: 'cancelled' | 'timed_out', because: Reason): void {
    if (step.sessionId !== null && !isStepOver(step.status)) {
      this.commands.push({
        kind: 'abort',
        sessionId: step.sessionId,
        status,
        reason: pointingTo(because, stepRef(step)),
      });
    }
  }

  private breaksRun(step: Invocation): boolean {
    return (step.status === 'failed' || step.status === 'timed_out') && !this.mayContinueAfter(step);
  }

  private mayContinueAfter(step: Invocation): boolean {
    return (
      (step.status === 'failed' || step.status === 'timed_out') &&
      this.definition(step).onFailure === 'continue'
    );
  }

  private dependenciesAreOver(step: Invocation): boolean {
    return this.dependencies(step).every((other) => isStepOver(other.status));
  }

  private dependencies(step: Invocation): Invocation[] {
    const wanted = this.definition(step).dependsOn;
    return this.state.invocations.filter((other) => wanted.includes(other.stepId));
  }

  private definition(step: Invocation): Step {
    const definition = this.state.run.definition.steps[step.stepIndex];
    if (!definition)
      throw new Error(`run ${this.state.run.id} has no step ${step.stepIndex} in its definition`);
    return definition;
  }
}

/**
 * The status of a run with unfinished steps: running before waiting; among waits, the one that a person can
 * end comes first.
 */
function overall(
  invocations: readonly Invocation[],
  paused: boolean,
): { status: RunStatus; because: Reason | null } {
  if (invocations.some((step) => step.status === 'running')) return { status: 'running', because: null };
  for (const status of ['waiting_approval', 'waiting_ci', 'waiting_until'] as const) {
    const step = invocations.find((candidate) => candidate.status === status);
    if (step) return { status, because: step.reason };
  }
  return { status: paused ? 'waiting_until' : 'running', because: null };
}

function verdictIn(outcome: Outcome): string | null | undefined {
  return outcome.outcome_kind === 'review_verdict' ? outcome.verdict : undefined;
}

function statusText(status: StepStatus): string {
  return status.replaceAll('_', ' ');
}

/** When the run must be rechecked at the latest: the earliest wait or deadline of its unfinished steps. */
export function nextWake(state: RunState): Date | undefined {
  if (isRunOver(state.run.status)) return undefined;
  const times = state.invocations
    .filter((step) => !isStepOver(step.status))
    .flatMap((step) => [step.waitUntil, step.deadlineAt])
    .filter((time) => time !== null);
  return times.length === 0 ? undefined : new Date(Math.min(...times.map((time) => time.getTime())));
}
