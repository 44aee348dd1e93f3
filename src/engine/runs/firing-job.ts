import type { EventOf } from '../../domain/event/event.ts';
import { type Run, repoOf } from '../../domain/run/run.ts';
import type { Firing } from '../../ports/firings.ts';
import { repositoryKey } from '../../ports/job-keys.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Tx } from '../../ports/storage.ts';

/** The job that begins the run of a firing. */
export function firingJob(firing: Firing): NewJob {
  const event: EventOf<'schedule.fired'> = {
    kind: 'schedule.fired',
    installation_id: firing.installationId,
    repository: { id: firing.repositoryId, ...repoOf(firing) },
    firing_id: firing.id,
    run_id: firing.runId,
    chain: firing.chain,
    schedule: firing.trigger,
    due_at: firing.dueAt.toISOString(),
  };
  return {
    kind: 'event',
    installationId: firing.installationId,
    key: repositoryKey(firing.repositoryId),
    payload: { event },
  };
}

/** Begins the next firing that waited for the end of this run. */
export async function fireQueued(
  tx: Tx,
  queue: Pick<Queue, 'enqueue'>,
  { repositoryId, chain }: Run,
): Promise<void> {
  const [next] = await tx.firings.queued({ repositoryId, chain });
  if (next) await queue.enqueue(tx, firingJob(next));
}
