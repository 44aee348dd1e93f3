import type { Ids } from '../../core/ids.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Tx } from '../../ports/storage.ts';
import { redactedEffect } from './redacted-effect.ts';

/**
 * How long a wish may wait for the next change of it, in milliseconds. A run often passes through several states in
 * one breath; people see the last one, and GitHub gets one request for it. `update`: what is there already and is not
 * waited for by anybody. `first_words`: a comment that rings somebody's bell should have something to say.
 */
export const SETTLE_MS = { urgent: 0, follow_up: 500, update: 2_000, first_words: 5_000 } as const;

interface RequestOptions {
  runId: string | null;
  at: Date;
  /** On whose account it is, when it belongs to no run: writes of one person or pull request do not hold up those of others. */
  cause?: WriteCause;
  /** Carried out at once when left out. */
  settleMs?: number;
  /** Why it failed is known to be over, so it need not rest. */
  anew?: boolean;
}

export interface Outbox {
  /** Writes the wish, without secrets, in the caller's transaction, with the job that carries it out. */
  request(tx: Tx, key: string, effect: Effect, options: RequestOptions): Promise<void>;
}

export function createOutbox(deps: { queue: Queue; ids: Ids }): Outbox {
  return {
    async request(tx, key, effect, { runId, at, settleMs = 0, anew = false, cause }) {
      const desired = { id: deps.ids.next('eff'), key, effect: redactedEffect(effect), runId, at, anew };
      const open = await tx.effects.request(desired);
      if (!open) return;
      await deps.queue.enqueue(tx, effectJob(key, new Date(at.getTime() + settleMs), cause));
    },
  };
}

/** The key of the jobs that carry out the effect. */
export function effectKey(key: string): string {
  return `effect:${key}`;
}

/** One for all changes of the wish that come before it runs. */
export function effectJob(key: string, runAt: Date, cause?: WriteCause): NewJob {
  return {
    kind: 'effect',
    key: effectKey(key),
    payload: { key, ...(cause && { cause }) },
    runAt,
    coalesce: true,
  };
}
