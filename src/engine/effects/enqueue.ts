import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { Run } from '../../domain/run/run.ts';
import type { GitHub } from '../../ports/github.ts';
import type { Storage } from '../../ports/storage.ts';
import { refuseOvertaken, withheldNow } from './merge.ts';
import type { Writers } from './writers.ts';

type Enqueued =
  /** The pull request is in the merge queue, no matter who added it. */
  | { kind: 'queued' }
  /** This session added it once, and it left the queue without being merged. */
  | { kind: 'dropped' }
  | { kind: 'refused'; message: string };

/** Access to the merge queue for one session. */
export interface QueueHandle {
  /**
   * Adds the pull request to the merge queue of its base, once per session: if the queue drops it, it is not
   * added again and again.
   */
  enqueue(proof: MergeProof): Promise<Enqueued>;
  /** Removes it again, if this session added it. */
  dequeue(): Promise<void>;
}

/**
 * Like the merge call, this cannot wait in the outbox, because its proof lives for seconds. The row records
 * that the request was begun and answered. After a crash in between, GitHub's queue shows whether it
 * succeeded.
 */
export function queueHandle(
  deps: { storage: Storage; github: GitHub; writers: Writers; clock: Clock; ids: Ids },
  run: Pick<Run, 'id' | 'installationId' | 'pullRequest' | 'facts'>,
  repo: { owner: string; name: string },
  sessionId: string,
): QueueHandle {
  const { storage, github, writers, clock, ids } = deps;
  const key = `enqueue:${sessionId}`;
  const read = (number: number) => github.reader(run.installationId, 'person').queued(repo, number);

  return {
    async enqueue(proof) {
      const { question } = proof;
      const { nodeId, isQueued } = await read(question.pullRequest);
      const known = await storage.read.effects.get(key);
      if (isQueued) {
        if (known) await recordResult({ done: true });
        return { kind: 'queued' };
      }
      if (known?.status === 'done') return { kind: 'dropped' };
      const effect: Effect = {
        kind: 'enqueue',
        installation_id: run.installationId,
        owner: repo.owner,
        repo: repo.name,
        pull_request: question.pullRequest,
        head_sha: question.headSha,
        base_ref: question.baseRef,
        countersigned_by: [...proof.countersignedBy],
      };
      const permitted = await writers.for(effect, run);
      if ('withheld' in permitted) throw withheldNow(permitted.withheld);
      await storage.transaction(async (tx) => {
        await refuseOvertaken(tx, run.id, sessionId);
        await tx.effects.request({ id: ids.next('eff'), key, effect, runId: run.id, at: clock.now() });
      });
      const result = await permitted.github.enqueue(proof, nodeId);
      await recordResult(result.kind === 'done' ? { done: true } : { done: false, error: result.message });
      return result.kind === 'done' ? { kind: 'queued' } : result;
    },

    async dequeue() {
      const known = await storage.read.effects.get(key);
      if (known?.status !== 'done' || run.pullRequest === null) return;
      const { nodeId, isQueued } = await read(run.pullRequest);
      // If the queue dropped it, it stays out. Otherwise it would be added and dropped forever.
      if (!isQueued) return;
      await writers.takingBack(run.installationId).dequeue(nodeId);
      await recordResult({ done: false });
    },
  };

  async function recordResult({
    done,
    error = null,
  }: {
    done: boolean;
    error?: string | null;
  }): Promise<void> {
    await storage.transaction(async (tx) => {
      const row = await tx.effects.get(key);
      if (!row) return;
      await tx.effects.saveProgress({
        ...row,
        appliedHash: done ? row.desiredHash : null,
        status: done ? 'done' : 'failed',
        begun: done,
        error,
        updatedAt: clock.now(),
      });
    });
  }
}
