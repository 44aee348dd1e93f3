import { CountersignError } from '../../core/errors.ts';
import { aboutRun } from '../../domain/audit/entry.ts';
import { givenExactly } from '../../domain/command/order.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { OPERATOR } from '../../domain/run/actor.ts';
import { isRunOver } from '../../domain/run/run.ts';
import { rememberCommand } from '../../engine/runs/applied-commands.ts';
import { cancelAsked, runIsOver } from '../../messages/cli/cli.ts';
import type { JobPayload } from '../../ports/jobs.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findRun } from './find-run.ts';

/**
 * Asks the running app to end the run. This command does not change the rows itself, because only the engine
 * can stop sessions and update GitHub. A run that ends before that keeps its result.
 */
export function runCancel(
  { clock, tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Output> {
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
      // A key of its own, so that it does not wait behind a failing event of the pull request.
      await queue.enqueue(tx, {
        kind: 'signal',
        installationId: run.installationId,
        key: `run:${id}`,
        payload,
      });
      if (run.pullRequest !== null) {
        await rememberCommand(
          tx,
          { repositoryId: run.repositoryId, pullRequest: run.pullRequest },
          { kind: 'stop', verb: 'cancel', chain: run.chain },
          { actor: OPERATOR, given: givenExactly(clock.now()) },
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
