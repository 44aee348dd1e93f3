import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import { aboutRun, mergedOnce } from '../../domain/audit/entry.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import { type Run, repoOf, type Session } from '../../domain/run/run.ts';
import { openGate } from '../../messages/check-run/gate-check.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { mergeKey, type Note, refuseOvertaken } from '../effects/merge.ts';
import { gateView, othersAtGate } from '../runs/publish-gate.ts';
import type { GateHandle } from './approval-context.ts';

/** The gate check of a run's head and base, for one session. */
export function gateHandle(
  { storage, gates, clock, ids }: { storage: Storage; gates: GateChecks; clock: Clock; ids: Ids },
  run: Run,
  { id: sessionId, invocationId }: Pick<Session, 'id' | 'invocationId'>,
  /** Writes something with the result of the session. */
  withResult: (note: Note) => void,
): GateHandle {
  const { repositoryId, headSha, baseRef, installationId } = run;
  const key = gateCheckKey(repositoryId, headSha, baseRef);
  const passed = async (tx: Storage['read']) => (await tx.effects.get(key))?.progress.passed;
  const isOurs = async (tx: Storage['read']) => (await passed(tx))?.run_id === run.id;
  // If a run has two merge steps, neither closes what the other has opened.
  const isOpenedByThisStep = async (tx: Storage['read']) =>
    (await passed(tx))?.invocation_id === invocationId;
  return {
    async open(proof, leaseMs) {
      const view = await gateView(storage.read, repositoryId, headSha, baseRef);
      return gates.pass({
        key,
        proof,
        content: openGate(view, proof),
        runId: run.id,
        invocationId,
        installationId,
        leaseMs,
        refuseOvertaken: (tx) => refuseOvertaken(tx, run.id, sessionId),
      });
    },
    async withdraw() {
      // Nobody else opens it for this step, and most often there is nothing to close.
      if (!(await isOpenedByThisStep(storage.read))) return;
      await storage.transaction(async (tx) => {
        if (await isOpenedByThisStep(tx)) await gates.withdraw(tx, key, clock.now());
      });
    },
    note: (note) => storage.transaction(note),
    settle: (mergeSha, people) =>
      withResult(async (tx) => {
        if (!(await isOurs(tx))) return;
        // This merge says nothing about another open pull request with this head.
        const isShared = (await othersAtGate(tx, run)).length > 0;
        if (isShared) await gates.withdraw(tx, key, clock.now());
        else await gates.settle(tx, key, clock.now());
        if (run.pullRequest === null) return;
        await recordMergeByOthers(tx, run.pullRequest, mergeSha, people);
        // Only the first entry of a merge is stored. The app records its own merges earlier, so this one was
        // made by a person or the queue.
        await tx.audit.record(
          {
            kind: 'merge.made_elsewhere',
            ...aboutRun(run, { kind: 'session', id: sessionId }),
            merge_sha: mergeSha,
            people: [...people],
          },
          mergedOnce(repositoryId, run.pullRequest),
        );
      }),
    isOpen: () => isOurs(storage.read),
    async isHeldByAnother() {
      const held = await passed(storage.read);
      return held !== undefined && held.until !== null && held.run_id !== run.id;
    },
  };

  /** Adds the merge to the rows of merges, so that other chains can refer to it. */
  async function recordMergeByOthers(
    tx: Tx,
    pullRequest: number,
    mergeSha: string,
    people: readonly string[],
  ): Promise<void> {
    const ledger = mergeKey(run.id, headSha);
    if (await tx.effects.get(ledger)) return;
    const at = clock.now();
    const { owner, name } = repoOf(run);
    const effect: Effect = {
      kind: 'merge',
      installation_id: installationId,
      owner,
      repo: name,
      pull_request: pullRequest,
      head_sha: headSha,
      base_ref: baseRef,
      method: run.settings.merge.method,
      countersigned_by: [...people],
    };
    await tx.effects.request({ id: ids.next('eff'), key: ledger, effect, runId: run.id, at });
    const row = await tx.effects.get(ledger);
    if (!row) return;
    await tx.effects.saveProgress({
      ...row,
      appliedHash: row.desiredHash,
      status: 'done',
      begun: true,
      progress: { merge_sha: mergeSha },
      updatedAt: at,
    });
  }
}
