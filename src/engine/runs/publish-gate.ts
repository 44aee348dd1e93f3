import { shortHash } from '../../core/canonical.ts';
import { merges } from '../../domain/chain/chain.ts';
import type { EffectOf } from '../../domain/effect/effect.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import { isMergeStep, isRunOver, type Run } from '../../domain/run/run.ts';
import { closedGate, type GateView, unaskedGate } from '../../messages/check-run/gate-check.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { ReadTx, Tx } from '../../ports/storage.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { newestOfEachChain, placeOfEffect, type RunView, viewOf } from './run-view.ts';

/** The content of the gate check for a head and base that does not depend on chains. */
export async function gateView(
  tx: Tx,
  repositoryId: number,
  headSha: string,
  baseRef: string,
): Promise<GateView> {
  const read = await tx.gateProtections.get(repositoryId, baseRef);
  return {
    headSha,
    baseRef,
    externalId: shortHash(gateCheckKey(repositoryId, headSha, baseRef), 32),
    protection: read?.protection,
  };
}

/**
 * Keeps the gate check of the run's head and base closed, with the text of the chains that ask about it,
 * unless one of these runs holds it open.
 * @param views the newest run of each chain for this pull request, including the run itself
 */
export async function publishGate(
  { gates, pages, now }: { gates: GateChecks; pages: Pages; now: Date },
  tx: Tx,
  run: Run,
  views: readonly RunView[],
  atOnce: boolean,
): Promise<void> {
  const own = views.filter(({ state }) => asksAbout(state.run, run));
  if (own.length === 0) return;
  const key = gateCheckKey(run.repositoryId, run.headSha, run.baseRef);
  if (await isHeldOpen(tx, key, run.pullRequest)) return;
  const others = await viewsOfOthers(tx, run);
  // A run that ended with its own pull request is irrelevant while another one with this head is open.
  const isOver = (view: RunView) => isRunOver(view.state.run.status);
  // A fixed order, whichever pull request is published. Otherwise they would alternately change the text.
  const order = (one: RunView, other: RunView) =>
    Number(isOver(one)) - Number(isOver(other)) ||
    (one.state.run.pullRequest ?? 0) - (other.state.run.pullRequest ?? 0) ||
    (one.state.run.chain < other.state.run.chain ? -1 : 1);
  const [first, ...more] = others.length === 0 ? own : [...own, ...others].sort(order);
  if (!first) return;
  const view = await gateView(tx, run.repositoryId, run.headSha, run.baseRef);
  const content = closedGate(view, [first, ...more], pages);
  await gates.close(tx, key, gateEffect(first.state.run, content), {
    runId: first.state.run.id,
    at: now,
    atOnce,
  });
}

/** Closes the gate of a pull request for which no chain asks for a countersign. */
export async function publishUnaskedGate(
  gates: GateChecks,
  tx: Tx,
  place: Parameters<typeof gateEffect>[0] & { headSha: string },
  because: Explanation,
  at: Date,
): Promise<void> {
  const { repositoryId, headSha, baseRef } = place;
  const key = gateCheckKey(repositoryId, headSha, baseRef);
  if (await isHeldOpen(tx, key, place.pullRequest)) return;
  const view = await gateView(tx, repositoryId, headSha, baseRef);
  const since = (await tx.effects.get(key))?.createdAt ?? at;
  await gates.close(tx, key, gateEffect(place, unaskedGate(view, because, since)), { runId: null, at });
}

function asksAbout(other: Run, { headSha, baseRef }: Run): boolean {
  return other.headSha === headSha && other.baseRef === baseRef && merges(other.definition);
}

/**
 * Whether a run holds the gate open: it waits for its merge, or has merged this pull request. A paused run,
 * or one that ended without a merge, does not, whatever it proved before.
 */
async function isHeldOpen(tx: Tx, key: string, pullRequest: number | null): Promise<boolean> {
  const passed = (await tx.effects.get(key))?.progress.passed;
  const holder = passed?.run_id == null ? undefined : await tx.runs.load(passed.run_id);
  if (!passed || !holder) return false;
  if (passed.until === null) return holder.run.pullRequest === pullRequest;
  if (holder.run.paused || isRunOver(holder.run.status)) return false;
  return holder.invocations.some(
    (step) =>
      isMergeStep(holder.run, step) && (step.status === 'waiting_approval' || step.status === 'running'),
  );
}

/**
 * The other open pull requests with this head and base, which share its gate check. One of them may have no
 * run.
 */
export async function othersAtGate(
  tx: ReadTx,
  {
    repositoryId,
    headSha,
    baseRef,
    pullRequest,
  }: Pick<Run, 'repositoryId' | 'headSha' | 'baseRef' | 'pullRequest'>,
): Promise<{ number: number; pausedBy: string | null; runs: Run[] }[]> {
  const others = [];
  for (const { number, pausedBy } of await tx.pullRequests.openWithHead(repositoryId, headSha)) {
    if (number === pullRequest) continue;
    const runs = await tx.runs.current({ repositoryId, pullRequest: number });
    const ofHead = runs.filter((run) => run.headSha === headSha);
    if (ofHead.length === 0 || ofHead.some((run) => run.baseRef === baseRef))
      others.push({ number, pausedBy, runs: ofHead });
  }
  return others;
}

/** The newest run of each chain for the other open pull requests that share this head and base. */
async function viewsOfOthers(tx: Tx, run: Run): Promise<RunView[]> {
  const views: RunView[] = [];
  for (const { runs } of await othersAtGate(tx, run)) {
    for (const other of newestOfEachChain(runs)) {
      const view = asksAbout(other, run) ? await viewOf(tx, other.id) : undefined;
      if (view) views.push(view);
    }
  }
  return views;
}

function gateEffect(
  run: Pick<Run, 'installationId' | 'repository' | 'repositoryId' | 'pullRequest' | 'baseRef'>,
  content: EffectOf<'gate_check'>['content'],
): EffectOf<'gate_check'> {
  return {
    kind: 'gate_check',
    ...placeOfEffect(run),
    repository_id: run.repositoryId,
    pull_request: run.pullRequest,
    base_ref: run.baseRef,
    content,
  };
}
