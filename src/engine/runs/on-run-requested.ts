import type { EventOf } from '../../domain/event/event.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { isAtLeast, type RepositoryRole } from '../../domain/policy/role.ts';
import { seriesOf } from '../../domain/run/child.ts';
import { isRunOver, type Run } from '../../domain/run/run.ts';
import { type RequestResult, requestReply } from '../../messages/run/requested.ts';
import { type Cause, repositoryEventJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Tx } from '../../ports/storage.ts';
import type { PullRequestDeps } from './on-pull-request.ts';

type RunRequested = EventOf<'run.requested'>;

/**
 * Begins runs again, or cancels them, because a person pressed a button of their check run, or in Studio. Only runs without a pull
 * request: for the others, a button is a command. Marks the delivery as done in the same transaction, so that one press
 * begins one run.
 */
export async function onRunRequested(
  deps: PullRequestDeps & { queue: Pick<Queue, 'enqueue'> },
  event: RunRequested,
  cause: Cause | null,
): Promise<void> {
  const { storage, log } = deps;
  const { actor, repository, asks } = event;
  const role = await deps.github.reader(event.installation_id, 'person').role(repository, actor);
  await storage.transaction(async (tx) => {
    if (event.studio !== undefined && (await tx.studioCommands.get(event.studio))?.answer !== null) return;
    let result: RequestResult = 'no_run';
    for (const run of await runsMeant(tx, event)) {
      const isActive = !isRunOver(run.status);
      if (!mayAsk(run, event, role)) {
        log.warn({ run: run.id, actor, role }, 'a button of the run was not for them');
        result = 'not_allowed';
      } else if (isActive !== (asks === 'cancel')) result = isActive ? 'active' : 'over';
      else {
        await carryOut(deps, tx, event, run);
        result = asks;
      }
    }
    if (event.studio !== undefined) await tx.studioCommands.answer(event.studio, requestReply(result));
    await cause?.end?.(tx);
  });
}

/** Firing a chain by hand is for maintainers, and so is doing it again. A dispatch is for those who can write. */
function mayAsk({ event, facts }: Run, { asks }: RunRequested, role: RepositoryRole): boolean {
  // The step that waited for it can be run again.
  if (facts.parent && asks === 'rerun') return false;
  const wasFired = event.kind === 'manual.fired' && !event.dispatched;
  return isAtLeast(role, asks === 'rerun' && wasFired ? 'maintain' : 'write');
}

async function runsMeant(tx: Tx, { run_id, repository, head_sha }: RunRequested): Promise<Run[]> {
  if (run_id !== null) {
    const run = await tx.runs.get(run_id);
    return run && run.repositoryId === repository.id && run.pullRequest === null ? [run] : [];
  }
  const runs = await tx.runs.list({ repositoryId: repository.id, headSha: head_sha });
  const newest = new Map<string, Run>();
  for (const run of runs)
    if (run.pullRequest === null && !newest.has(seriesOf(run))) newest.set(seriesOf(run), run);
  return [...newest.values()];
}

async function carryOut(
  { engine, queue, ids }: PullRequestDeps & { queue: Pick<Queue, 'enqueue'> },
  tx: Tx,
  { asks, actor, installation_id, repository, studio }: RunRequested,
  run: Run,
): Promise<void> {
  const by = { kind: 'person', login: actor } as const;
  if (asks === 'cancel') {
    const because = reason('run.cancelled.by_person', `cancelled by ${actor}`, [
      { kind: 'person', id: actor, label: actor },
    ]);
    await engine.signal(tx, run.id, { kind: 'end', status: 'cancelled', reason: because }, by);
  } else {
    await queue.enqueue(
      tx,
      repositoryEventJob({
        kind: 'manual.fired',
        installation_id,
        repository,
        run_id: ids.next('run'),
        again: run.id,
        ...(run.event.kind === 'manual.fired' && run.event.dispatched && { dispatched: true }),
        ...(run.event.kind === 'manual.fired' && run.event.ref !== undefined && { ref: run.event.ref }),
        chain: run.chain,
        pull_request: null,
        actor,
        inputs: run.event.kind === 'manual.fired' ? run.event.inputs : {},
      }),
    );
  }
  await tx.audit.record({
    kind: 'command.carried_out',
    by,
    repository: { id: repository.id, name: run.repository },
    pull_request: null,
    head_sha: run.headSha,
    base_ref: run.baseRef,
    configuration_sha: null,
    run_id: run.id,
    verb: asks,
    via: { kind: studio === undefined ? 'button' : 'studio' },
    chain: run.chain,
  });
}
