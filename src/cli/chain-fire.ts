import { CHAIN_NAME } from '../chain/chain.ts';
import { CountersignError } from '../core/errors.ts';
import { timeSortedIds } from '../core/ids.ts';
import type { EventOf } from '../event/event.ts';
import { eventJob } from '../queue/queue.ts';
import { OPERATOR } from '../run/actor.ts';
import { repoOf } from '../run/run.ts';
import { fireAsked, notAChainName, unknownRepository } from '../words/cli.ts';
import { type Context, type DatabaseOption, Misuse, type Said } from './context.ts';

export interface FireOptions extends DatabaseOption {
  repo: string;
  pr: number;
  input?: Record<string, string>;
}

/**
 * Leaves the same event for the running app as a comment's `/countersign fire` does. Which chains there are is known to the
 * app only, from the base branch, so a chain that is not there shows in the app's log and not here.
 */
export function chainFire({ clock, tools }: Context, chain: string, options: FireOptions): Promise<Said> {
  if (!CHAIN_NAME.test(chain)) throw new Misuse(notAChainName(chain));
  return tools.withDatabase(options.database, 'write', async (storage) => {
    const queue = await tools.enqueuer(storage);
    return storage.transaction(async (tx) => {
      const [newest] = await tx.runs.list({ repository: options.repo, limit: 1 });
      if (!newest) throw new CountersignError('cli.unknown_repository', unknownRepository(options.repo));
      // The pull request's row is the fresher one: an App that was removed and installed again has a new number.
      const row = await tx.pullRequests.get(newest.repositoryId, options.pr);
      const event = {
        kind: 'manual.fired',
        installation_id: row?.installationId ?? newest.installationId,
        repository: { id: newest.repositoryId, ...repoOf(newest) },
        run_id: timeSortedIds(() => clock.now()).next('run'),
        chain,
        pull_request: options.pr,
        actor: OPERATOR,
        inputs: options.input ?? {},
      } satisfies EventOf<'manual.fired'>;
      await queue.enqueue(tx, eventJob(event));
      return {
        text: fireAsked(chain, newest.repository, options.pr),
        json: {
          queued: true,
          chain,
          repository: newest.repository,
          pull_request: options.pr,
          inputs: event.inputs,
        },
      };
    });
  });
}
