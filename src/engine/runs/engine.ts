import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { type Expected, foldContracts } from '../../domain/artifact/contract.ts';
import { type ProducedFile, type Verification, verify } from '../../domain/artifact/verification.ts';
import { aboutRun } from '../../domain/audit/entry.ts';
import type { Chain, Step } from '../../domain/chain/chain.ts';
import { broughtBy, type EventOf } from '../../domain/event/event.ts';
import { stepRef } from '../../domain/explanation/evidence.ts';
import { pointingTo, type Reason, reason } from '../../domain/explanation/reason.ts';
import type { Slot } from '../../domain/expression/state-slot.ts';
import { canBeLearned } from '../../domain/outcome/learned.ts';
import { type Outcome, outcomeName } from '../../domain/outcome/outcome.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { runsChain } from '../../domain/policy/capability.ts';
import { type Actor, actorOf } from '../../domain/run/actor.ts';
import { childRunId, rootOf } from '../../domain/run/child.ts';
import { doneReason } from '../../domain/run/completed.ts';
import { figuresOfAnswer, figuresOfRun } from '../../domain/run/figures.ts';
import {
  governingBranch,
  type Invocation,
  isMergeStep,
  isRunOver,
  isStepOver,
  type Run,
  type RunState,
  repoOf,
  type Session,
} from '../../domain/run/run.ts';
import { foldHints } from '../../domain/run/state/hints.ts';
import {
  type Command,
  nextWake,
  type SessionResult,
  type Signal,
  transition,
} from '../../domain/run/transition.ts';
import { stepEndedFirst } from '../../messages/run/chain-step.ts';
import { repositoryEventJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Tx } from '../../ports/storage.ts';
import { checkContract } from './contract-check.ts';
import { fireQueued } from './firing-job.ts';
import type { Publisher } from './publish.ts';

export interface Engine {
  /**
   * Stores a new run and starts it, in the caller's transaction, with its event as the actor. The artifacts
   * that its steps must produce are fixed here for the whole run.
   */
  begin(tx: Tx, state: RunState): Promise<void>;
  /**
   * Applies a signal in the caller's transaction: state, sessions, jobs and desired effects change together.
   */
  signal(tx: Tx, runId: string, signal: Signal, by: Actor): Promise<RunState | undefined>;
  /**
   * Records the result of a session after checking its contract, and returns it. Returns `undefined` if the
   * session is no longer the step's current one: a superseded worker cannot write.
   */
  report(tx: Tx, sessionId: string, report: SessionReport, by: Actor): Promise<SessionResult | undefined>;
  /** Gives a step that is done another outcome, as an artifact beside the former one, and lets its run continue from there. */
  judge(tx: Tx, runId: string, stepIndex: number, outcome: Outcome, by: Actor): Promise<void>;
  /**
   * Records why an active session is blocked, for explanations. Not shown on GitHub: an exhausted rate limit
   * should not be spent on edits of comments.
   */
  recordBlocked(tx: Tx, sessionId: string, because: Reason): Promise<void>;
}

export interface SessionReport {
  result: SessionResult;
  artifacts: Artifact[];
  /** The files that its contract may require; none by default. */
  produced?: readonly ProducedFile[];
  /** Approvals that changed, oldest first. */
  approvals: Approval[];
  /** The run's subject no longer exists, so the run ends for this reason, whatever the session's result. */
  endsRun?: Reason;
}

/**
 * How long a step that waits for CI waits for further changes after the first, in milliseconds. Checks report
 * in bursts, and one recheck then reads them all.
 */
const GATHER_MS = 250;

/** In UTF-16 units; what an event keeps of an outcome's summary. */
const MAX_SUMMARY = 1_000;

export interface SkillDefaults {
  /** The artifacts that a step's skill produces by default. */
  artifactDefaults(step: Step): readonly Expected[];
  /** The slots of the working memory that a step's skill fills. */
  produces(step: Step): readonly Slot[];
}

/** The chain as a run stores it, including the defaults of its steps' skills. */
export function asBegun(chain: Chain, { artifactDefaults, produces }: SkillDefaults): Chain {
  return foldHints(foldContracts(chain, artifactDefaults), produces);
}

export function createEngine(
  deps: SkillDefaults & {
    queue: Queue;
    publisher: Publisher;
    clock: Clock;
    ids: Ids;
    log: Log;
    /** Called when a session's work is void, so that the worker can stop. */
    onAbort(sessionId: string): void;
    /** Called when a run ends, in the transaction that ends it. */
    onOver?: ((run: Run) => void) | undefined;
    /** Whether a step's skill works for long. */
    isReview(step: Step): boolean;
  },
): Engine {
  const { queue, publisher, clock, ids, log } = deps;

  async function begin(tx: Tx, { run, invocations }: RunState): Promise<void> {
    const state = { run: { ...run, definition: asBegun(run.definition, deps) }, invocations };
    log.info(
      {
        run: state.run.id,
        chain: state.run.chain,
        repository: state.run.repository,
        head: state.run.headSha,
      },
      'run begins',
    );
    const by = actorOf(run.event, run.deliveryId);
    await tx.audit.record({
      kind: 'run.begun',
      ...aboutRun(run, by),
      chain: run.chain,
      event: run.event.kind,
    });
    const sessions: Session[] = [];
    await apply(tx, state, { kind: 'start' }, by, { begins: sessions });
  }

  async function signal(tx: Tx, runId: string, what: Signal, by: Actor): Promise<RunState | undefined> {
    const state = await tx.runs.load(runId);
    return state && apply(tx, state, what, by);
  }

  async function report(
    tx: Tx,
    sessionId: string,
    done: SessionReport,
    by: Actor,
  ): Promise<SessionResult | undefined> {
    const { artifacts, approvals } = done;
    const found = await tx.runs.getSession(sessionId);
    if (!found) return undefined;
    const { session, invocation, state } = found;
    const runId = state.run.id;
    const isCurrent =
      invocation.sessionId === sessionId &&
      !isStepOver(invocation.status) &&
      (session.status === 'running' || session.status === 'waiting');
    if (!isCurrent) return undefined;
    const { result, verification } = checkContract(
      done.result,
      session.contract,
      done.produced ?? [],
      clock.now(),
    );
    await tx.artifacts.insert(...artifacts);
    if (result.kind === 'done') await countFindings(tx, state.run, result.outcome, clock.now());
    for (const approval of approvals) {
      const isNews = await saveApproval(tx, approval);
      await auditAnswer(tx, state.run, invocation, {
        result: done.result,
        approval,
        isNews,
        by,
        at: clock.now(),
      });
    }
    if (done.endsRun) {
      // The session ends with its run, for the same reason, instead of failing first for its own.
      const status = done.endsRun.code.startsWith('run.aborted.') ? 'aborted' : 'cancelled';
      await signal(tx, runId, { kind: 'end', status, reason: done.endsRun }, by);
    } else {
      await tx.runs.saveSession({ ...sessionAfter(session, result, invocation), verification }, by);
      const after = await tx.runs.load(runId);
      if (after)
        await apply(tx, after, { kind: 'session', sessionId, result }, by, {
          questionsChanged: approvals.length > 0,
        });
      if (result.kind !== 'waits') await endChild(tx, state, invocation, sessionId, by);
      const event = state.run.facts.heard && invocationCompleted(state.run, invocation, result);
      if (event) await queue.enqueue(tx, repositoryEventJob(event));
    }
    return result;
  }

  async function judge(tx: Tx, runId: string, stepIndex: number, outcome: Outcome, by: Actor): Promise<void> {
    const step = (await tx.runs.load(runId))?.invocations[stepIndex];
    if (!step || step.sessionId === null) return;
    const artifactId = ids.next('art');
    await tx.artifacts.insert({
      id: artifactId,
      runId,
      invocationId: step.id,
      sessionId: step.sessionId,
      createdAt: clock.now(),
      kind: outcome.outcome_kind,
      name: outcomeName(outcome),
      content: canonicalJson(outcome),
      filePath: null,
    });
    await signal(tx, runId, { kind: 'judged', stepIndex, outcome, artifactId }, by);
  }

  async function recordBlocked(tx: Tx, sessionId: string, because: Reason): Promise<void> {
    const state = (await tx.runs.getSession(sessionId))?.state;
    const step = state?.invocations.find((candidate) => candidate.sessionId === sessionId);
    if (!state || !step || isStepOver(step.status)) return;
    step.reason = because;
    await tx.runs.save(state, { kind: 'session', id: sessionId });
  }

  function sessionAfter(session: Session, result: SessionResult, step: Invocation): Session {
    const finishedAt = clock.now();
    switch (result.kind) {
      case 'done':
        return { ...session, status: 'completed', reason: doneReason(result), finishedAt };
      case 'withheld':
        return { ...session, status: 'completed', reason: result.reason, finishedAt };
      case 'waits':
        return { ...session, status: 'waiting', reason: result.reason };
      case 'failed':
        return { ...session, status: 'failed', reason: pointingTo(result.reason, stepRef(step)), finishedAt };
    }
  }

  /**
   * @param options `questionsChanged`: whether people may see something new although the run is unchanged, because
   * approvals are separate rows. `begins`: the run is not stored yet, and its first sessions are collected here
   */
  async function apply(
    tx: Tx,
    before: RunState,
    what: Signal,
    by: Actor,
    { questionsChanged = false, begins }: { questionsChanged?: boolean; begins?: Session[] } = {},
  ): Promise<RunState> {
    const now = clock.now();
    const { state, commands } = transition(before, what, now);
    await wakeLater(tx, state);
    for (const command of commands) await execute(tx, state, command, by, begins);
    if (!begins && isDeepStrictEqual(state, before)) {
      // Most events only wake waiting steps, which show what they find.
      if (questionsChanged) await publisher.publish(tx, state);
      return state;
    }
    state.run.updatedAt = now;
    if (begins) await tx.runs.insert(state, { from: before, sessions: begins, by });
    else await tx.runs.save(state, by);
    await closeQuestions(tx, state);
    if (before.run.status !== state.run.status) {
      await auditStatus(tx, before.run, state.run, by);
      if (isRunOver(state.run.status))
        tx.insight.add(...figuresOfRun(state, await tx.runs.historyOf(state.run.id)));
      if (isRunOver(state.run.status) && state.run.facts.fired?.source === 'schedule.fired')
        await fireQueued(tx, queue, state.run);
      if (isRunOver(state.run.status)) await wakeParent(tx, state.run, by);
      if (isRunOver(state.run.status)) deps.onOver?.(state.run);
      log.info(
        { run: state.run.id, from: before.run.status, to: state.run.status, reason: state.run.reason?.code },
        isRunOver(state.run.status) ? 'run is over' : 'run moves on',
      );
    }
    await publisher.publish(tx, state);
    return state;
  }

  /** The run of another chain that the session began ends with it, if it has not ended. */
  async function endChild(
    tx: Tx,
    { run }: RunState,
    { stepIndex, stepId }: Invocation,
    sessionId: string,
    by: Actor,
  ): Promise<void> {
    if (!runsChain(run.definition.steps[stepIndex])) return;
    const because = reason('run.cancelled.parent_ended', stepEndedFirst(run.chain, stepId), [
      { kind: 'run', id: run.id, label: run.chain },
    ]);
    await signal(tx, childRunId(sessionId), { kind: 'end', status: 'cancelled', reason: because }, by);
  }

  /** The step that waits for the run. If the step has ended the run, it is over. */
  async function wakeParent(tx: Tx, { facts, reason: because }: Run, by: Actor): Promise<void> {
    if (!facts.parent || because?.code === 'run.cancelled.parent_ended') return;
    await signal(tx, facts.parent.run, { kind: 'wake', for: ['until'] }, by);
  }

  /** Also after a wake that found nothing due, because a postponed wait has only this one job. */
  async function wakeLater(tx: Tx, state: RunState): Promise<void> {
    const runAt = nextWake(state);
    if (!runAt) return;
    const { id } = state.run;
    await queue.enqueue(tx, {
      kind: 'wake',
      installationId: state.run.installationId,
      key: `wake:${id}`,
      payload: { runId: id },
      runAt,
      coalesce: true,
    });
  }

  async function execute(
    tx: Tx,
    state: RunState,
    command: Command,
    by: Actor,
    begins: Session[] | undefined,
  ): Promise<void> {
    switch (command.kind) {
      case 'start': {
        const step = stepOf(state, command.stepIndex);
        const session: Session = {
          id: ids.next('ses'),
          invocationId: step.id,
          attempt: step.attempts,
          status: 'running',
          reason: null,
          contract: state.run.definition.steps[command.stepIndex]?.artifacts ?? null,
          verification: null,
          startedAt: clock.now(),
          finishedAt: null,
        };
        step.sessionId = session.id;
        if (begins) begins.push(session);
        else await tx.runs.insertSession(session);
        await enqueueRecheck(tx, state, command.stepIndex, session.id, 'event');
        return;
      }
      case 'poll': {
        const { sessionId, status, stepIndex } = stepOf(state, command.stepIndex);
        const step = state.run.definition.steps[stepIndex];
        // A review depends on the head alone, and often runs while the first checks report.
        const isOfNoUse = status === 'running' && step !== undefined && deps.isReview(step);
        if (sessionId !== null && !isOfNoUse) {
          await enqueueRecheck(
            tx,
            state,
            command.stepIndex,
            sessionId,
            command.because,
            command.because === 'event' && status === 'waiting_ci' ? GATHER_MS : 0,
          );
        }
        return;
      }
      case 'abort': {
        const found = await tx.runs.getSession(command.sessionId);
        const step = state.invocations.find((candidate) => candidate.id === found?.invocation.id);
        if (step) await endChild(tx, state, step, command.sessionId, by);
        if (found) {
          const verification = afterAbort(found.session);
          const { status, reason } = command;
          const session = { ...found.session, status, reason, verification, finishedAt: clock.now() };
          await tx.runs.saveSession(session, by);
          if (step?.sessionId === command.sessionId) {
            state.invocations[step.stepIndex] = { ...step, verification };
          }
        }
        deps.onAbort(command.sessionId);
      }
    }
  }

  /**
   * A file counts only with its row, and rows are stored with a result. So an interrupted session has
   * produced nothing.
   */
  function afterAbort({ contract }: Session): Verification | null {
    return contract && verify(contract, [], [], clock.now());
  }

  function enqueueRecheck(
    tx: Tx,
    { run }: RunState,
    stepIndex: number,
    sessionId: string,
    because: 'time' | 'event',
    inMs = 0,
  ): Promise<void> {
    const step = run.definition.steps[stepIndex];
    return queue.enqueue(tx, {
      kind: step && deps.isReview(step) ? 'review' : 'session',
      installationId: run.installationId,
      worth: step?.uses.kind === 'action' ? 'first' : 'normal',
      key: `session:${sessionId}`,
      payload: { sessionId, because },
      runAt: new Date(clock.now().getTime() + inMs),
      coalesce: true,
    });
  }

  /** An unanswered approval of a finished step is void, so that nobody can countersign it later. */
  async function closeQuestions(tx: Tx, state: RunState): Promise<void> {
    const newest = new Map((await tx.approvals.ofRun(state.run.id)).map((one) => [one.invocationId, one]));
    for (const { id, status } of state.invocations) {
      const approval = isStepOver(status) ? newest.get(id) : undefined;
      if (approval?.status === 'open') await tx.approvals.save({ ...approval, status: 'void' });
    }
  }

  return { begin, signal, report, judge, recordBlocked };
}

/** The event for chains that wait for the steps of others. */
function invocationCompleted(
  run: Run,
  { stepId }: Invocation,
  result: SessionResult,
): EventOf<'invocation.completed'> | undefined {
  if (result.kind !== 'done' || !('repository' in run.event)) return undefined;
  const { outcome, artifactId } = result;
  const people = [...new Set([...broughtBy(run.event, run.pullRequest), ...(run.facts.broughtBy ?? [])])];
  return {
    kind: 'invocation.completed',
    installation_id: run.installationId,
    repository: { id: run.repositoryId, ...repoOf(run) },
    pull_request: run.pullRequest,
    branch: governingBranch(run),
    default_branch: run.facts.repo.default_branch,
    base_ref: run.baseRef,
    head_sha: run.headSha,
    run_id: run.id,
    root: rootOf(run),
    chain: run.chain,
    step: stepId,
    artifact_id: artifactId,
    outcome_kind: outcome.outcome_kind,
    verdict: 'verdict' in outcome && typeof outcome.verdict === 'string' ? outcome.verdict : null,
    passed: outcome.passed,
    summary: outcome.summary.slice(0, MAX_SUMMARY),
    depth: (run.facts.depth ?? 0) + 1,
    ...(people.length > 0 && { brought_by: people }),
  };
}

/** @returns whether its status is another one than before: a rerun finds an answer again that is stored already */
async function saveApproval(tx: Tx, approval: Approval): Promise<boolean> {
  const known = (await tx.approvals.ofRun(approval.runId)).find((other) => other.id === approval.id);
  if (known) await tx.approvals.save(approval);
  else await tx.approvals.insert(approval);
  return known?.status !== approval.status;
}

/** In one review. A report of CI can have any number of rules of any name. */
const MOST_RULES = 50;

/** Counts the findings of a review by their rules, to compare them with what people accept. */
async function countFindings(
  tx: Tx,
  { repositoryId, pullRequest }: Run,
  outcome: Outcome,
  at: Date,
): Promise<void> {
  if (outcome.outcome_kind !== 'review_verdict') return;
  const found = new Map<string, number>();
  const findings = [...outcome.findings, ...(outcome.accepted ?? []).map(({ finding }) => finding)];
  for (const { rule } of findings) {
    if (found.has(rule) || found.size < MOST_RULES) found.set(rule, (found.get(rule) ?? 0) + 1);
  }
  const [learnable, others] = [new Map<string, number>(), new Map<string, number>()];
  for (const [rule, count] of found) (canBeLearned(rule, outcome) ? learnable : others).set(rule, count);
  await tx.acceptedFindings.countFound({ repositoryId, pullRequest }, learnable, at);
  // Without its pull requests, a rule has no history, so nothing is learned of it, nor listed as if it were.
  await tx.acceptedFindings.countFound({ repositoryId, pullRequest: null }, others, at);
}

/** Records that a run is over, or that one that was over continues. */
async function auditStatus(tx: Tx, before: Run, run: Run, by: Actor): Promise<void> {
  const about = { ...aboutRun(run, by), chain: run.chain };
  if (isRunOver(run.status)) {
    const { code = null, summary = null } = run.reason ?? {};
    await tx.audit.record({ kind: 'run.ended', ...about, status: run.status, reason: code, summary });
  } else if (isRunOver(before.status)) {
    await tx.audit.record({ kind: 'run.continued', ...about });
  }
}

/** Records who answered the approval, if its session found it answered. It is answered, and counted, once. */
async function auditAnswer(
  tx: Tx,
  run: Run,
  step: Invocation,
  {
    result,
    approval,
    isNews,
    by,
    at,
  }: { result: SessionResult; approval: Approval; isNews: boolean; by: Actor; at: Date },
): Promise<void> {
  if (approval.status !== 'countersigned' && approval.status !== 'rejected') return;
  const isYes = approval.status === 'countersigned';
  const rejecting = result.kind === 'failed' ? result.reason.evidence : [];
  if (isNews) tx.insight.add(...figuresOfAnswer(run, approval, at));
  await tx.audit.record(
    {
      kind: isYes ? 'question.countersigned' : 'question.rejected',
      ...aboutRun(run, by),
      head_sha: approval.headSha,
      base_ref: approval.baseRef,
      step: step.stepId,
      merges: isMergeStep(run, step),
      people: isYes
        ? approval.countersignedBy
        : rejecting.flatMap(({ kind, id }) => (kind === 'person' ? [id] : [])),
    },
    `question:${approval.id}:${approval.status}`,
  );
}

function stepOf(state: RunState, index: number): RunState['invocations'][number] {
  const step = state.invocations[index];
  if (!step) throw new Error(`run ${state.run.id} has no step ${index}`);
  return step;
}
