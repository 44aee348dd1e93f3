import type { Clock } from '../../core/clock.ts';
import { unreachable } from '../../core/errors.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { Actor } from '../../domain/run/actor.ts';
import type { Run } from '../../domain/run/run.ts';
import type { Storage } from '../../ports/storage.ts';
import type { StoredChains } from '../configuration/stored-chains.ts';
import type { Engine } from './engine.ts';

type GoneEvent = EventOf<'installation.gone' | 'repository.gone'>;
interface GoneDeps {
  storage: Storage;
  clock: Clock;
  engine: Engine;
  storedChains: Pick<StoredChains, 'forget'>;
}

/**
 * Ends the runs of a repository or installation that is gone. Does not ask GitHub, which would not answer. If
 * the webhook was late and access is back, the pull request's next event starts new runs, as after any abort.
 */
export async function onGone(
  { storage, engine, clock }: GoneDeps,
  event: GoneEvent,
  by: Actor,
): Promise<void> {
  const because = reasonOf(event);
  await storage.transaction(async (tx) => {
    const repositoryId = event.kind === 'repository.gone' ? event.repository.id : undefined;
    const runs = await tx.runs.list({ active: true, ...(repositoryId !== undefined && { repositoryId }) });
    for (const run of runs.filter((candidate) => isGone(candidate, event))) {
      await engine.signal(tx, run.id, { kind: 'end', status: 'aborted', reason: because }, by);
    }
    const { installation_id: installationId } = event;
    const gone = repositoryId === undefined ? { installationId } : { repositoryId };
    await tx.pullRequests.areGone(gone, clock.now());
    await tx.repositoryStates.remove(gone);
  });
}

/**
 * A rename does not change the id, so runs continue under the new name. Active sessions still find it through
 * GitHub's redirects.
 */
export async function onRenamed(
  { storage, storedChains }: GoneDeps,
  { repository }: EventOf<'repository.renamed'>,
): Promise<void> {
  const name = `${repository.owner}/${repository.name}`;
  await storage.transaction(async (tx) => {
    const [newest] = await tx.runs.list({ repositoryId: repository.id, limit: 1 });
    // Otherwise a chain that is paused would start runs under the new name.
    if (newest) await tx.chains.renameRepository(newest.repository, name);
    await tx.runs.renameRepository(repository.id, name);
  });
  storedChains.forget();
}

function isGone({ installationId }: Run, event: GoneEvent): boolean {
  const { because } = event;
  switch (because) {
    case 'deleted':
    case 'archived':
      return true;
    case 'uninstalled':
    case 'suspended':
    case 'taken_out':
      return installationId === event.installation_id;
    case 'transferred':
      // The event comes from the new owner's installation, whose own runs continue.
      return installationId !== event.installation_id;
    default:
      return unreachable(because);
  }
}

function reasonOf({ because }: GoneEvent): Reason {
  switch (because) {
    case 'uninstalled':
      return reason('run.aborted.installation_gone', 'the app was uninstalled');
    case 'suspended':
      return reason('run.aborted.installation_gone', 'the app’s installation was suspended');
    case 'taken_out':
      return reason(
        'run.aborted.installation_gone',
        'the repository was taken out of the app’s installation',
      );
    case 'deleted':
      return reason('run.aborted.repository_gone', 'the repository was deleted');
    case 'archived':
      return reason('run.aborted.repository_gone', 'the repository was archived, so nothing can be written');
    case 'transferred':
      return reason('run.aborted.repository_gone', 'the repository was transferred to another owner');
    default:
      return unreachable(because);
  }
}
