import type { Clock } from '../../core/clock.ts';
import { unreachable } from '../../core/errors.ts';
import type { EffectRow } from '../../domain/effect/effect.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { Tx } from '../../ports/storage.ts';
import type { Outbox } from '../effects/outbox.ts';
import { type Published, planComments, plannedFrom, type Rows, statusCommentKey } from './plan-comments.ts';
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
  for (const planned of planComments(rows, published, { pages, isUrgent, pullRequest: issue })) {
    const { key, comment, runId } = planned;
    const effect = { ...comment, ...place };
    const options = { runId, at: clock.now() };
    switch (planned.kind) {
      case 'show':
        await outbox.request(tx, key, effect, { ...options, settleMs: planned.settleMs });
        break;
      case 'withhold':
        await outbox.withhold(tx, key, effect, options);
        break;
      default:
        unreachable(planned);
    }
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
