import type { Clock } from '../../core/clock.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import { isRunOver, type RunState } from '../../domain/run/run.ts';
import { checkRunContent } from '../../messages/check-run/check-run.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { Tx } from '../../ports/storage.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { type Outbox, SETTLE_MS } from '../effects/outbox.ts';
import { plannedFrom } from './plan-comments.ts';
import { publishComments } from './publish-comments.ts';
import { publishGate } from './publish-gate.ts';
import {
  checkRunKey,
  newestOfEachChain,
  newestQuestion,
  placeOfEffect,
  type RunView,
  viewOf,
} from './run-view.ts';

export interface Publisher {
  /** Requests the effects that show the run's current state. The outbox drops unchanged ones. */
  publish(tx: Tx, state: RunState): Promise<void>;
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
        ...plannedFrom({ view, approvals, views }),
        gateCheckKey(run.repositoryId, run.headSha, run.baseRef),
      ]);
      const isUrgent = isRunOver(run.status) || run.status === 'waiting_approval';

      // A chain for an issue has no commit, which a check run requires.
      if (run.headSha !== '') {
        const key = checkRunKey(run.id);
        const effect: Effect = { kind: 'check_run', ...placeOfEffect(run), content: checkRunContent(view) };
        const settleMs = isUrgent || (await isNew(tx, key)) ? SETTLE_MS.urgent : SETTLE_MS.update;
        await outbox.request(tx, key, effect, { runId: run.id, at: now, settleMs });
      }
      if (run.pullRequest === null) return;
      const all = views.includes(view) ? views : [view, ...views];
      // With the question and the check run, whose texts change at the same time.
      const isAsking = run.status === 'waiting_approval';
      await publishGate({ gates, pages, now }, tx, run, all, isAsking);
      await publishComments({ outbox, clock, pages }, tx, { view, approvals, views }, { isUrgent });
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
}

/** Whether it does not exist on GitHub yet. */
async function isNew(tx: Tx, key: string): Promise<boolean> {
  return ((await tx.effects.get(key))?.githubId ?? null) === null;
}
