import type { Clock } from '../../core/clock.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import { approvalKey } from '../../domain/policy/approval.ts';
import { isRunOver, type Run, type RunState } from '../../domain/run/run.ts';
import { checkRunContent } from '../../messages/check-run/check-run.ts';
import { approvalComment, questionMarker } from '../../messages/comments/approval-comment.ts';
import { STATUS_MARKER, statusComment } from '../../messages/comments/status-comment.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import { type RunSummary, runSummary } from '../../messages/run/run-summary.ts';
import type { Tx } from '../../ports/storage.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { effectKey, type Outbox, SETTLE_MS } from '../effects/outbox.ts';
import { publishGate } from './publish-gate.ts';
import { newestOfEachChain, newestQuestion, placeOfEffect, type RunView, viewOf } from './run-view.ts';

export interface Publisher {
  /** Requests the effects that show the run's current state. The outbox drops unchanged ones. */
  publish(tx: Tx, state: RunState): Promise<void>;
}

function statusCommentKey(repositoryId: number, pullRequest: number): string {
  return `status:${repositoryId}#${pullRequest}`;
}

function checkRunKey(runId: string): string {
  return `check_run:${runId}`;
}

export function createPublisher(deps: {
  outbox: Outbox;
  gates: GateChecks;
  clock: Clock;
  pages: Pages;
}): Publisher {
  const { outbox, gates, clock, pages } = deps;

  return {
    async publish(tx, state) {
      const { run } = state;
      const now = clock.now();
      const approvals = await tx.approvals.ofRun(run.id);
      const view = { state, approval: newestQuestion(approvals), pages, now };
      const views = await viewsOfChains(tx, view);
      await tx.effects.preload([
        ...[view, ...views].map((one) => checkRunKey(one.state.run.id)),
        ...approvals.map(({ id }) => approvalKey(id)),
        gateCheckKey(run.repositoryId, run.headSha, run.baseRef),
        ...(run.pullRequest === null ? [] : [statusCommentKey(run.repositoryId, run.pullRequest)]),
      ]);
      const urgent = isRunOver(run.status) || run.status === 'waiting_approval';

      // A chain for an issue has no commit, which a check run requires.
      if (run.headSha !== '') {
        const key = checkRunKey(run.id);
        const effect: Effect = { kind: 'check_run', ...placeOfEffect(run), content: checkRunContent(view) };
        const settleMs = urgent || (await isNew(tx, key)) ? SETTLE_MS.urgent : SETTLE_MS.update;
        await outbox.request(tx, key, effect, { runId: run.id, at: now, settleMs });
      }
      for (const approval of approvals) {
        const key = approvalKey(approval.id);
        // Nobody saw an approval comment that GitHub rejected, so there is nothing to update.
        if (approval.status !== 'open' && (await wasRefused(tx, key))) continue;
        const body = approvalComment({ ...view, approval });
        await comment(tx, run, key, questionMarker(approval), body, SETTLE_MS.urgent);
      }
      if (run.pullRequest === null) return;
      const all = views.includes(view) ? views : [view, ...views];
      // With the question and the check run, whose texts change at the same time.
      const isAsking = run.status === 'waiting_approval';
      await publishGate({ gates, pages, now }, tx, run, all, isAsking);
      // The part of the run whose step it is says that the step waits.
      if (run.facts.parent) return;
      const own = views.filter(({ state: other }) => !other.run.facts.parent);
      await publishStatus(tx, view, own, urgent);
    },
  };

  async function viewsOfChains(tx: Tx, own: RunView): Promise<RunView[]> {
    const { run } = own.state;
    if (run.pullRequest === null) return [];
    const { repositoryId, pullRequest } = run;
    const runs = await tx.runs.current({ repositoryId, pullRequest });
    const views = [];
    for (const { id } of newestOfEachChain(runs)) {
      const view = id === run.id ? own : await viewOf(tx, id);
      if (view) views.push(view);
    }
    return views;
  }

  /** All chains of a pull request share one comment, with a part for the newest run of each. */
  async function publishStatus(
    tx: Tx,
    own: RunView,
    newest: readonly RunView[],
    urgent: boolean,
  ): Promise<void> {
    const { run } = own.state;
    if (run.pullRequest === null) return;
    const views = [];
    for (const view of newest) {
      const checkRunUrl = (await tx.effects.get(checkRunKey(view.state.run.id)))?.progress.url ?? null;
      views.push({ ...view, checkRunUrl });
    }
    const key = statusCommentKey(run.repositoryId, run.pullRequest);
    const first = await isNew(tx, key);
    // A second new comment would notify people twice, and count as created content. One that is being written gets its last text.
    const isBeingWritten = (await tx.effects.get(key))?.begun === true;
    if (first && !isBeingWritten && (await areTold(tx, newest))) return withhold(tx, key);
    const soon = first ? isRunOver(run.status) : urgent;
    const later = first ? SETTLE_MS.first_words : SETTLE_MS.update;
    await comment(tx, run, key, STATUS_MARKER, statusComment(views), soon ? SETTLE_MS.follow_up : later);
  }

  /** An earlier text that still waits is not sent. */
  async function withhold(tx: Tx, key: string): Promise<void> {
    const row = await tx.effects.get(key);
    if (!row || row.appliedHash === row.desiredHash) return;
    const done = { appliedHash: row.desiredHash, status: 'done' as const, updatedAt: clock.now() };
    await tx.effects.saveProgress({ ...row, ...done });
    await tx.jobs.removeWaiting('effect', effectKey(key));
  }

  async function comment(
    tx: Tx,
    run: Run,
    key: string,
    marker: string,
    body: string,
    settleMs: number,
  ): Promise<void> {
    if (run.pullRequest === null) return;
    const effect: Effect = { kind: 'comment', ...placeOfEffect(run), issue: run.pullRequest, marker, body };
    await outbox.request(tx, key, effect, { runId: run.id, at: clock.now(), settleMs });
  }
}

/** Runs of which the approval comment says everything, from the question to the merge. */
const TOLD: readonly RunSummary['kind'][] = ['waiting_countersign', 'countersigned', 'merged'];

/** Whether an approval comment says the state of each run. */
async function areTold(tx: Tx, views: readonly RunView[]): Promise<boolean> {
  for (const { state, approval } of views) {
    if (!approval || approval.status === 'void') return false;
    if (!TOLD.includes(runSummary(state, approval).kind)) return false;
    if (await wasRefused(tx, approvalKey(approval.id))) return false;
  }
  return views.length > 0;
}

/** Whether it does not exist on GitHub yet. */
async function isNew(tx: Tx, key: string): Promise<boolean> {
  return ((await tx.effects.get(key))?.githubId ?? null) === null;
}

/** Whether it failed, and certainly does not exist on GitHub. */
async function wasRefused(tx: Tx, key: string): Promise<boolean> {
  const row = await tx.effects.get(key);
  return row?.status === 'failed' && row.githubId === null && !row.begun;
}
