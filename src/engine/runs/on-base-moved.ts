import type { EventOf } from '../../domain/event/event.ts';
import type { Actor } from '../../domain/run/actor.ts';
import type { Storage } from '../../ports/storage.ts';
import type { Engine } from './engine.ts';
import { RECHECK } from './on-pull-request.ts';

/**
 * After a push to a branch, rechecks the steps that wait because of a conflict with it. GitHub sends no event
 * when a pull request becomes mergeable. Other waits are left alone, because a busy base branch would
 * otherwise wake every open approval.
 */
export async function onBaseMoved(
  { storage, engine }: { storage: Storage; engine: Engine },
  { repository, branch }: EventOf<'file.changed'>,
  by: Actor,
): Promise<void> {
  const active = await storage.read.runs.list({ repositoryId: repository.id, active: true, limit: 1_000 });
  const conflicting = active.filter(
    ({ baseRef, reason }) => baseRef === branch && reason?.code === 'step.waiting.conflict',
  );
  if (conflicting.length === 0) return;
  await storage.transaction(async (tx) => {
    for (const { id } of conflicting) await engine.signal(tx, id, RECHECK, by);
  });
}
