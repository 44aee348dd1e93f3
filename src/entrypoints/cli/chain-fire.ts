import { timeSortedIds } from '../../core/ids.ts';
import { aboutNothing } from '../../domain/audit/entry.ts';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import { givenOnCommandLine } from '../../domain/command/order.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { OPERATOR } from '../../domain/run/actor.ts';
import { rememberCommand } from '../../engine/runs/applied-commands.ts';
import { fireAsked, notAChainName } from '../../messages/cli/cli.ts';
import { eventJob } from '../../ports/jobs.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { findInstallation } from './find-installation.ts';

export interface FireOptions extends DatabaseOption {
  repo: string;
  pr: number;
  input?: Record<string, string>;
}

/**
 * Enqueues the same event for the running app as `/countersign fire` in a comment. Only the app knows which
 * chains the base branch has, so an unknown chain shows in the app's log, not here.
 */
export function chainFire({ clock, tools }: Context, chain: string, options: FireOptions): Promise<Output> {
  if (!CHAIN_NAME.test(chain)) throw new UsageError(notAChainName(chain));
  return tools.withDatabase(options.database, 'write', async (storage) => {
    const queue = await tools.enqueuer(storage);
    return storage.transaction(async (tx) => {
      const { installationId, repository } = await findInstallation(tx, options.repo, options.pr);
      const given = givenOnCommandLine(clock.now());
      const event = {
        kind: 'manual.fired',
        installation_id: installationId,
        repository,
        run_id: timeSortedIds(() => clock.now()).next('run'),
        asked_by: { verb: 'fire', given },
        chain,
        pull_request: options.pr,
        actor: OPERATOR,
        inputs: options.input ?? {},
      } satisfies EventOf<'manual.fired'>;
      await queue.enqueue(tx, eventJob(event));
      await rememberCommand(
        tx,
        { repositoryId: repository.id, pullRequest: options.pr },
        { kind: 'begin', verb: 'fire', chain, newRun: true },
        { actor: OPERATOR, given },
      );
      await tx.audit.record({
        kind: 'command.carried_out',
        ...aboutNothing({ kind: 'operator' }),
        repository: { id: repository.id, name: options.repo },
        pull_request: options.pr,
        run_id: event.run_id,
        verb: 'fire',
        via: { kind: 'command_line' },
        chain,
        inputs: event.inputs,
      });
      return {
        text: fireAsked(chain, options.repo, options.pr),
        json: {
          queued: true,
          chain,
          repository: options.repo,
          pull_request: options.pr,
          inputs: event.inputs,
        },
      };
    });
  });
}
