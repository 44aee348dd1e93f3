import { aboutNothing } from '../../domain/audit/entry.ts';
import { givenExactly } from '../../domain/command/order.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { isAtLeast } from '../../domain/policy/role.ts';
import { FIRE_NOT_ALLOWED, fireAccepted, fireRefused } from '../../messages/run/requested.ts';
import { repositoryEventJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import { branchToFire, cannotFireForBranch } from './fire-by-hand.ts';
import type { PullRequestDeps } from './on-pull-request.ts';

/**
 * Fires a chain for the default branch because a person asked for it in Studio. It has the rights of `/countersign fire`, for which
 * there is no comment without a pull request. For a pull request, Studio sends that command.
 */
export async function onFireRequested(
  deps: PullRequestDeps & { queue: Pick<Queue, 'enqueue'> },
  event: EventOf<'fire.requested'>,
): Promise<void> {
  const { storage, github, queue, log } = deps;
  const { actor, repository, installation_id, chain, inputs, run_id, at } = event;
  const role = await github.reader(installation_id, 'person').role(repository, actor);
  const isAllowed = isAtLeast(role, 'maintain');
  const refused = isAllowed ? cannotFireForBranch(await branchToFire(deps, event), event) : undefined;
  await storage.transaction(async (tx) => {
    // Handled twice, it was answered the first time. A row that is gone is a day old.
    if ((await tx.studioCommands.get(run_id))?.answer !== null) return;
    if (!isAllowed || refused) {
      log.info({ chain, actor, role, because: refused?.because }, 'a chain was not fired from Studio');
      const answer = refused ? { ok: false, text: fireRefused(chain, refused.because) } : FIRE_NOT_ALLOWED;
      return tx.studioCommands.answer(run_id, answer);
    }
    await queue.enqueue(
      tx,
      repositoryEventJob({
        kind: 'manual.fired',
        installation_id,
        repository,
        run_id,
        asked_by: { verb: 'fire', given: givenExactly(new Date(at)) },
        chain,
        pull_request: null,
        actor,
        inputs,
      }),
    );
    await tx.audit.record({
      kind: 'command.carried_out',
      ...aboutNothing({ kind: 'person', login: actor }),
      repository: { id: repository.id, name: `${repository.owner}/${repository.name}` },
      run_id,
      verb: 'fire',
      via: { kind: 'studio' },
      chain,
      inputs,
    });
    await tx.studioCommands.answer(run_id, fireAccepted(chain));
  });
}
