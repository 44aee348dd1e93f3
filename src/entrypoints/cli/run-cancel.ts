import { CountersignError } from '../../core/errors.ts';
import { aboutRun } from '../../domain/audit/entry.ts';
import { givenAt } from '../../domain/command/order.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { OPERATOR } from '../../domain/run/actor.ts';
import { isRunOver } from '../../domain/run/run.ts';
import { rememberCommand } from '../../engine/runs/applied-commands.ts';
import { cancelAsked, runIsOver } from '../../messages/cli.ts';
import type { JobPayload } from '../../ports/jobs.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { findRun } from './find-run.ts';

/**
 * Asks the running app to end the run. Not done here, though the rows are at hand: only the engine stops what is
 * under way and tells GitHub. A run that ends by itself in the meantime stays as it ended.
 */
export function runCancel(
  { clock, tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Said> {
  return tools.withDatabase(database, 'write', async (storage) => {
    const queue = await tools.enqueuer(storage);
    return storage.transaction(async (tx) => {
      const { run } = (await findRun(tx, id)).state;
      if (isRunOver(run.status)) {
        throw new CountersignError('cli.run_is_over', runIsOver(run, clock.now()));
      }
      const payload: JobPayload<'signal'> = {
        runId: id,
        by: { kind: 'operator' },
        signal: {
          kind: 'end',
          status: 'cancelled',
          reason: reason('run.cancelled.by_person', `cancelled by ${OPERATOR}`),
        },
      };
      // A key of its own: it must not wait behind an event of the pull request that fails again and again.
      await queue.enqueue(tx, { kind: 'signal', key: `run:${id}`, payload });
      if (run.pullRequest !== null) {
        await rememberCommand(
          tx,
          { repositoryId: run.repositoryId, pullRequest: run.pullRequest },
          { kind: 'stop', verb: 'cancel', chain: run.chain },
          { actor: OPERATOR, given: givenAt('cancel', clock.now()) },
        );
      }
      await tx.audit.record({
        kind: 'command.carried_out',
        ...aboutRun(run, { kind: 'operator' }),
        verb: 'cancel',
        via: { kind: 'command_line' },
      });
      return { text: cancelAsked(run), json: { queued: true, run_id: id } };
    });
  });
}
