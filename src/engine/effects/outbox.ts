import type { Ids } from '../../core/ids.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { NewJob, Worth } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Tx } from '../../ports/storage.ts';
import { noteRelease } from './caused-by.ts';
import { redactedEffect } from './redacted-effect.ts';
import { type WriteClass, writeClassOf } from './write-class.ts';

/**
 * How long a desired effect may wait for its next change, in milliseconds. A run often passes through several
 * states at once; people only need the last, and GitHub gets one request for it. `update`: it exists already
 * and nobody waits for it. `first_words`: a new comment notifies people, so it should have content.
 */
export const SETTLE_MS = { urgent: 0, follow_up: 500, update: 2_000, first_words: 5_000 } as const;

interface RequestOptions {
  runId: string | null;
  at: Date;
  /**
   * The person and pull request that cause it, if it belongs to no run. Their writes do not delay those of
   * others.
   */
  cause?: WriteCause;
  /** Executed immediately by default. */
  settleMs?: number;
  /** The cause of its failure is known to be gone, so it is tried without a pause. */
  retryNow?: boolean;
}

export interface Outbox {
  /**
   * Stores the desired effect without secrets in the caller's transaction, together with the job that
   * executes it.
   */
  request(tx: Tx, key: string, effect: Effect, options: RequestOptions): Promise<void>;
  /** Stores it as if it had been executed. Nothing is sent, nor what was requested of the key before and still waits. */
  withhold(tx: Tx, key: string, effect: Effect, options: Pick<RequestOptions, 'runId' | 'at'>): Promise<void>;
}

export function createOutbox(deps: { queue: Queue; ids: Ids }): Outbox {
  return {
    async request(tx, key, effect, { runId, at, settleMs = 0, retryNow = false, cause }) {
      const desired = { id: deps.ids.next('eff'), key, effect: redactedEffect(effect), runId, at, retryNow };
      await noteRelease(tx, key, desired.effect, desired);
      const open = await tx.effects.request(desired);
      if (!open) return;
      const job = effectJob(key, effect.installation_id, new Date(at.getTime() + settleMs), cause);
      await deps.queue.enqueue(tx, { ...job, worth: WORTH_OF_CLASS[writeClassOf({ key, effect })] });
    },

    async withhold(tx, key, effect, { runId, at }) {
      const before = await tx.effects.get(key);
      await tx.effects.request({ id: deps.ids.next('eff'), key, effect: redactedEffect(effect), runId, at });
      const row = await tx.effects.get(key);
      if (!row) return;
      await tx.effects.saveProgress({ ...row, appliedHash: row.desiredHash, status: 'done', updatedAt: at });
      const isWaiting = before !== undefined && before.appliedHash !== before.desiredHash;
      if (isWaiting) await tx.jobs.removeWaiting('effect', effectKey(key));
    },
  };
}

const WORTH_OF_CLASS: Readonly<Record<WriteClass, Worth>> = {
  gate: 'first',
  question: 'first',
  report: 'normal',
  status: 'last',
  reply: 'last',
  reaction: 'last',
};

/** The key of the effect's jobs. */
export function effectKey(key: string): string {
  return `effect:${key}`;
}

/** One job for all changes before it runs. */
export function effectJob(key: string, installationId: number, runAt: Date, cause?: WriteCause): NewJob {
  return {
    kind: 'effect',
    installationId,
    key: effectKey(key),
    payload: { key, ...(cause && { cause }) },
    runAt,
    coalesce: true,
  };
}
