import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/clock.ts';
import { CountersignError, messageOf } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { contractSchema } from '../../domain/artifact/contract.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { actionNamed } from '../../domain/policy/capability.ts';
import type { Actor } from '../../domain/run/actor.ts';
import { childRunId } from '../../domain/run/child.ts';
import { newChildRun } from '../../domain/run/new-run.ts';
import {
  type Invocation,
  isRunOver,
  type Run,
  type RunState,
  repoOf,
  type Session,
  waitingFor,
} from '../../domain/run/run.ts';
import type { SessionResult } from '../../domain/run/transition.ts';
import { gitHubIsUnavailable, limitIsSpent } from '../../messages/text/outage.ts';
import { type GitHub, GitHubError, SignInRefused } from '../../ports/github.ts';
import { eventJob, type JobResult, type JobRunner, notifyJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { ReadTx, Storage, Tx } from '../../ports/storage.ts';
import type { ApprovalContext, ApprovalResult } from '../approvals/approval-context.ts';
import { firstPoll, type QuestionPoller } from '../approvals/question-poller.ts';
import type { Note } from '../effects/merge.ts';
import type { Outbox } from '../effects/outbox.ts';
import { isTemporaryFailure } from '../gates/temporary-failure.ts';
import type { Engine, SessionReport } from '../runs/engine.ts';
import type { ChildRun } from '../steps/step.ts';
import type { SessionArtifacts } from './artifacts.ts';
import { type ContextOf, urgencyOf } from './context.ts';
import type { Registry } from './registry.ts';
import type { RunningLog } from './running-logs.ts';
import type { RunningSessions } from './running-sessions.ts';

/**
 * How long a waiting step pauses after the queue's own attempts (about two minutes) failed, in milliseconds.
 */
const OUTAGE_RETRY_MS = 120_000;

/**
 * A parsed chain never has an invalid contract. Something else changed the row, and its paths could lead
 * anywhere.
 */
const UNSOUND_CONTRACT: ApprovalResult = {
  kind: 'failed',
  reason: reason(
    'step.failed.error',
    'the artifact contract of this session is not sound, so it was not begun',
  ),
  retryable: false,
};

/** What a session begins with. */
interface Prepared {
  found: Awaited<ReturnType<ReadTx['runs']['getSession']>>;
  /** The approvals of its run. */
  asked: Approval[];
}

async function read(tx: ReadTx, sessionId: string): Promise<Prepared> {
  const found = await tx.runs.getSession(sessionId);
  return { found, asked: found ? await tx.approvals.ofRun(found.state.run.id) : [] };
}

/** Runs a session's step once: reads what it needs, executes it, and records the result. */
export function sessionJobs(deps: {
  storage: Storage;
  github: GitHub;
  queue: Queue;
  artifacts: SessionArtifacts;
  contextOf: ContextOf;
  outbox: Outbox;
  engine: Engine;
  questions: Pick<QuestionPoller, 'watch'>;
  running: RunningSessions;
  logOf(session: { runId: string; sessionId: string }): RunningLog;
  registry: Registry;
  clock: Clock;
  ids: Ids;
  log: Log;
}): JobRunner<'session' | 'review', Prepared> {
  const {
    storage,
    queue,
    artifacts,
    contextOf,
    outbox,
    engine,
    questions,
    running,
    logOf,
    registry,
    clock,
    ids,
    log,
  } = deps;

  async function execute(
    sessionId: string,
    because: 'time' | 'event',
    signal: AbortSignal,
    prepared: Prepared | undefined,
  ): Promise<JobResult> {
    const { found, asked } = prepared ?? (await read(storage.read, sessionId));
    const state = found?.state;
    if (!found || !state || isRunOver(state.run.status) || found.invocation.sessionId !== sessionId) {
      return { kind: 'done' };
    }
    const { invocation } = found;
    const later = deps.github.turn(state.run.installationId, {
      job: sessionId,
      // Somebody may have answered: otherwise the question is polled, and not looked at.
      ...(invocation.status === 'waiting_approval'
        ? { urgency: 'person', points: POINTS.answer }
        : { urgency: urgencyOf(invocation, because), points: POINTS.step }),
    });
    if (later) return { kind: 'defer', at: later };
    const work = running.begin(sessionId);
    const printed = logOf({ runId: state.run.id, sessionId });
    try {
      const aborted = AbortSignal.any([signal, work.signal]);
      const context = contextOf({ state, asked, session: found.session }, because, aborted, printed.add);
      const result = await attempt(context).finally(printed.end);
      if (work.signal.aborted) {
        await recordOnly(context);
        return { kind: 'done' };
      }
      if (signal.aborted) await recordOnly(context);
      signal.throwIfAborted();
      await Promise.all([record(context, result), ...context.recording]);
      return { kind: 'done' };
    } catch (error) {
      if (work.signal.aborted) return { kind: 'done' };
      // The queue retries temporary failures of GitHub, without counting them as attempts of the step.
      if (error instanceof GitHubError && error.kind === 'rate_limited' && error.retryAt) {
        const because = reason('step.waiting.rate_limit', limitIsSpent(error.retryAt));
        await storage.transaction((tx) => engine.recordBlocked(tx, sessionId, because));
      }
      if (error instanceof SignInRefused) {
        const because = reason('step.waiting.github', gitHubIsUnavailable(messageOf(error)));
        await storage.transaction((tx) => engine.recordBlocked(tx, sessionId, because));
      }
      throw error;
    } finally {
      work.end();
    }
  }

  async function attempt(context: ApprovalContext): Promise<ApprovalResult> {
    const { contract } = context.session;
    if (contract !== null && !contractSchema.safeParse(contract).success) return UNSOUND_CONTRACT;
    try {
      const attempted = await registry.attempt(context);
      log.debug(
        { session: context.session.id, step: context.step.id, came: attempted.kind, at: attempted.endedAt },
        'attempted a step',
      );
      return attempted;
    } catch (error) {
      if (isTemporaryFailure(error, context.signal)) throw error;
      log.error(
        { run: context.state.run.id, session: context.session.id, step: context.step.id, err: error },
        'a step threw',
      );
      return {
        kind: 'failed',
        // The message of another error can name paths, hosts or queries. It belongs in the log, not in a
        // public check run.
        reason: reason(
          'step.failed.error',
          error instanceof CountersignError
            ? `${context.step.id} failed: ${error.message}`
            : `${context.step.id} failed inside Countersign; the log has the details under ${context.session.id}`,
        ),
        retryable: true,
      };
    }
  }

  /** The result of the attempt does not count any more, but what it has done does. */
  async function recordOnly({
    notes,
    recording,
  }: Pick<ApprovalContext, 'notes' | 'recording'>): Promise<void> {
    if (notes.length > 0) await storage.transaction((tx) => writeAll(tx, notes));
    await Promise.all(recording);
  }

  async function writeAll(tx: Tx, notes: readonly Note[]): Promise<void> {
    for (const note of notes) await note(tx);
  }

  async function record(
    { state, invocation, session, judged, approval, notes }: ApprovalContext,
    result: ApprovalResult,
  ): Promise<void> {
    const by: Actor = { kind: 'session', id: session.id };
    const stored = await artifacts.store(state.run, session, result);
    const produced = await artifacts.readBack(state.run, session, stored);
    const verdicts = judged.map((outcome) => artifacts.ofOutcome(state.run, session, outcome));
    const isNew =
      result.kind === 'waits' && result.approval !== undefined && result.approval.id !== approval?.id;
    const watched = result.kind === 'waits' && result.approval?.watch ? result.approval : undefined;
    await storage.transaction(async (tx) => {
      tx.endJob();
      await writeAll(tx, notes);
      if (result.kind !== 'waits' && (await wasAnsweredMeanwhile(tx, result.approval))) {
        log.info({ session: session.id }, 'somebody answered during the poll, so it is polled again');
        return;
      }
      const approvals: Approval[] = [];
      if (result.kind === 'waits' && result.replaced) approvals.push(result.replaced);
      if (result.approval) approvals.push(result.approval);
      if (result.kind === 'superseded') {
        const accepted = await engine.report(
          tx,
          session.id,
          {
            result: { kind: 'failed', reason: result.reason, retryable: false },
            artifacts: verdicts,
            produced,
            approvals,
            endsRun: result.reason,
          },
          by,
        );
        if (!accepted) log.info({ session: session.id }, 'a late result was refused');
        else await reconcilePullRequest(tx, state);
        return;
      }
      const report = { ...reportOf(state, session, result, [...verdicts, ...stored], approvals), produced };
      const recorded = await engine.report(tx, session.id, report, by);
      if (!recorded) {
        log.info({ session: session.id }, 'a late result was refused');
        return;
      }
      if ('begins' in result && result.begins)
        await beginChild(tx, state, { invocation, session }, result.begins);
      if (watched) await queue.enqueue(tx, firstPoll(watched, state.run, clock.now()));
      if (isNew && result.approval && state.run.settings.notify)
        await queue.enqueue(tx, notifyJob(result.approval, state.run.installationId));
      if (recorded.kind === 'done' && isMerge(recorded.outcome)) await endRunsBeside(tx, state);
      // A step that violated its contract is not done, so its effects are not requested.
      const isKept = result.kind === 'waits' || recorded.kind === 'done' || recorded.kind === 'withheld';
      const desiredEffects = isKept && 'desiredEffects' in result ? (result.desiredEffects ?? []) : [];
      for (const { key, effect } of desiredEffects) {
        // A step that waits for its effect has just begun, so an earlier refusal may be out of date.
        const retryNow = result.kind === 'waits';
        await outbox.request(tx, key, effect, { runId: state.run.id, at: clock.now(), retryNow });
      }
    });
    if (watched) questions.watch(watched, state.run.installationId);
  }

  /** In the transaction that records that the step waits, so that no crash comes between. A repeated session finds it. */
  async function beginChild(
    tx: Tx,
    { run }: RunState,
    { invocation, session }: Pick<ApprovalContext, 'invocation' | 'session'>,
    begins: ChildRun,
  ): Promise<void> {
    const id = childRunId(session.id);
    const now = await tx.runs.get(run.id);
    if (!now || (await tx.runs.get(id))) return;
    await engine.begin(
      tx,
      newChildRun({ ...begins, id, parent: now, step: invocation.stepId }, ids, clock.now()),
    );
  }

  /**
   * The person's answer has woken the step again, and the newest answer counts, including one that withdraws
   * the answer used here.
   */
  async function wasAnsweredMeanwhile(tx: Tx, seen: Approval | undefined): Promise<boolean> {
    const asked = seen ? await tx.approvals.ofRun(seen.runId) : [];
    const now = asked.findLast(({ invocationId }) => invocationId === seen?.invocationId);
    return now?.id === seen?.id && !isDeepStrictEqual(now?.answers, seen?.answers);
  }

  /** The other runs of a pull request end with its merge. Only now is it known who merged. */
  async function endRunsBeside(tx: Tx, state: RunState): Promise<void> {
    const { repositoryId, pullRequest, id } = state.run;
    if (pullRequest === null) return;
    const unfinished = await tx.runs.list({ repositoryId, pullRequest, active: true });
    if (unfinished.some((run) => run.id !== id)) await reconcilePullRequest(tx, state);
  }

  /** The event about the pull request's change can be late or lost, so its current state is processed now. */
  async function reconcilePullRequest(tx: Tx, { run }: RunState): Promise<void> {
    if (run.pullRequest === null) return;
    const event: EventOf<'pr.updated'> = {
      kind: 'pr.updated',
      installation_id: run.installationId,
      repository: { id: run.repositoryId, ...repoOf(run) },
      pull_request: run.pullRequest,
      action: 'reconciled',
    };
    await queue.enqueue(tx, eventJob(event));
  }

  function reportOf(
    state: RunState,
    session: Session,
    result: Exclude<ApprovalResult, { kind: 'superseded' }>,
    stored: Artifact[],
    approvals: Approval[],
  ): SessionReport {
    if (result.kind !== 'done' && result.kind !== 'withheld') return { result, artifacts: stored, approvals };
    const { kind, outcome } = result;
    const artifact = artifacts.ofOutcome(state.run, session, outcome);
    const recorded = { outcome, artifactId: artifact.id };
    return {
      result: kind === 'done' ? { kind, ...recorded } : { kind, ...recorded, reason: result.reason },
      artifacts: [...stored, artifact],
      approvals,
    };
  }

  /** A step that only waits can also wait for GitHub's return: an outage voids no approval. */
  function afterOutage({ status }: Invocation, error: unknown): SessionResult | undefined {
    const awaited = waitingFor(status);
    if (!awaited || !(error instanceof GitHubError) || error.kind !== 'unavailable') return undefined;
    // That wait is already over.
    if (error instanceof SignInRefused) return undefined;
    return {
      kind: 'waits',
      for: awaited,
      until: new Date(clock.now().getTime() + OUTAGE_RETRY_MS),
      reason: reason('step.waiting.github', gitHubIsUnavailable(messageOf(error))),
    };
  }

  return {
    run: ({ sessionId, because }, signal, prepared) => execute(sessionId, because, signal, prepared),
    prepare: (tx, { sessionId }) => read(tx, sessionId),
    /** The step fails, with the error's message. */
    async onRetriesExhausted({ sessionId }, error) {
      const found = await storage.read.runs.getSession(sessionId);
      const state = found?.state;
      const result = found ? afterOutage(found.invocation, error) : undefined;
      const endsRun = state && (await lostAccess(deps.github, state.run, error));
      await storage.transaction((tx) =>
        engine.report(
          tx,
          sessionId,
          {
            result: result ?? {
              kind: 'failed',
              reason: reason('step.failed.error', `gave up after several tries: ${messageOf(error)}`),
              retryable: true,
            },
            artifacts: [],
            approvals: [],
            ...(endsRun ? { endsRun } : {}),
          },
          { kind: 'app' },
        ),
      );
    },
  };
}

/**
 * Roughly what a session costs of the installation's points. `answer`: reading a countersign and everything that
 * the gate judges, opening the gate check, and merging. Without an answer it is less, and the rest is not kept.
 */
const POINTS = { answer: 14, step: 8 } as const;

function isMerge(outcome: Outcome): boolean {
  return outcome.outcome_kind === 'action_result' && actionNamed(outcome.action)?.merges === true;
}

/**
 * Why a run lost its access to GitHub without a webhook about it, derived from the error that exhausted the
 * retries of one of its sessions; `undefined` if it may still have access. Only a "not found" costs a
 * request: a step can ask for something that does not exist, and reading the repository distinguishes the
 * two.
 */
async function lostAccess(github: GitHub, run: Run, error: unknown): Promise<Reason | undefined> {
  if (isOf('forbidden', error) || error instanceof SignInRefused) {
    return reason(
      'run.aborted.shut_out',
      'GitHub refuses this app: it was removed or suspended, or lost a permission',
    );
  }
  if (!isOf('not_found', error)) return undefined;
  try {
    await github.reader(run.installationId).repository(repoOf(run));
  } catch (readError) {
    if (isOf('not_found', readError)) {
      return reason(
        'run.aborted.repository_gone',
        'GitHub does not find the repository any more: it was deleted, or taken out of the app’s reach',
      );
    }
  }
  return undefined;
}

function isOf(kind: GitHubError['kind'], error: unknown): boolean {
  return error instanceof GitHubError && error.kind === kind;
}
