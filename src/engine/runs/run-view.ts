import type { Approval } from '../../domain/policy/approval.ts';
import { seriesOf } from '../../domain/run/child.ts';
import { type Run, type RunState, repoOf } from '../../domain/run/run.ts';
import type { ReadTx } from '../../ports/storage.ts';

/** A run with its newest approval, which need not be the one for the merge. */
export interface RunView {
  state: RunState;
  approval: Approval | null;
}

export async function viewOf(tx: ReadTx, runId: string): Promise<RunView | undefined> {
  const state = await tx.runs.load(runId);
  return state && { state, approval: newestQuestion(await tx.approvals.ofRun(runId)) };
}

export function newestQuestion(approvals: readonly Approval[]): Approval | null {
  return approvals.reduce<Approval | null>(
    (latest, approval) => (!latest || approval.askedAt >= latest.askedAt ? approval : latest),
    null,
  );
}

/** @param runs newest first */
export function newestOfEachChain(runs: readonly Run[]): Run[] {
  return [...new Map(runs.toReversed().map((run) => [seriesOf(run), run])).values()];
}

/** The key of the effect that writes a run's check run. */
export function checkRunKey(runId: string): string {
  return `check_run:${runId}`;
}

/** The repository on GitHub for the effects of a run. */
export function placeOfEffect(run: Pick<Run, 'installationId' | 'repository'>): {
  installation_id: number;
  owner: string;
  repo: string;
} {
  const { owner, name } = repoOf(run);
  return { installation_id: run.installationId, owner, repo: name };
}
