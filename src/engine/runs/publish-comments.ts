import type { Clock } from '../../core/clock.ts';
import { unreachable } from '../../core/errors.ts';
import type { EffectRow } from '../../domain/effect/effect.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { Tx } from '../../ports/storage.ts';
import { effectKey, type Outbox } from '../effects/outbox.ts';
import {
  type PlannedComment,
  type Published,
  planComments,
  plannedFrom,
  type Rows,
  statusCommentKey,
} from './plan-comments.ts';
import { placeOfEffect } from './run-view.ts';

/** Requests what the comments of the run's pull request should show now. */
export async function publishComments(
  { outbox, clock, pages }: { outbox: Outbox; clock: Clock; pages: Pages },
  tx: Tx,
  published: Published,
  { isUrgent }: { isUrgent: boolean },
): Promise<void> {
  const { run } = published.view.state;
  const { pullRequest: issue } = run;
  if (issue === null) return;
  const place = { kind: 'comment' as const, ...placeOfEffect(run), issue };
  const rows = await rowsOf(tx, plannedFrom(published), statusCommentKey(run.repositoryId, issue));
  for (const planned of planComments(rows, published, { pages, isUrgent, pullRequest: issue }))
    await carryOut(planned);

  async function carryOut(planned: PlannedComment): Promise<void> {
    switch (planned.kind) {
      case 'show': {
        const { key, comment, runId, settleMs } = planned;
        const effect = { ...place, ...comment };
        return outbox.request(tx, key, effect, { runId, at: clock.now(), settleMs });
      }
      case 'withhold':
        return withhold(planned.key);
      default:
        return unreachable(planned);
    }
  }

  async function withhold(key: string): Promise<void> {
    const row = await tx.effects.get(key);
    if (!row) return;
    const done = { appliedHash: row.desiredHash, status: 'done' as const, updatedAt: clock.now() };
    await tx.effects.saveProgress({ ...row, ...done });
    await tx.jobs.removeWaiting('effect', effectKey(key));
  }
}

async function rowsOf(tx: Tx, keys: readonly string[], statusKey: string): Promise<Rows> {
  const rows = new Map<string, EffectRow>();
  await read(keys);
  const status = rows.get(statusKey);
  const current = status?.effect.kind === 'comment' ? status.effect.replaced_by : undefined;
  if (current !== undefined && !rows.has(current)) await read([current]);
  return rows;

  async function read(wanted: readonly string[]): Promise<void> {
    await tx.effects.preload(wanted);
    for (const key of wanted) {
      const row = await tx.effects.get(key);
      if (row) rows.set(key, row);
    }
  }
}
