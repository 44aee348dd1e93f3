import { unreachable } from '../../core/errors.ts';
import { ORGANISATION_REPOSITORY } from '../../domain/chain/configuration-files.ts';
import type { Event, EventOf } from '../../domain/event/event.ts';
import { type Actor, actorOf } from '../../domain/run/actor.ts';
import { governingBranch } from '../../domain/run/run.ts';
import type { Changed, Repo } from '../../ports/github.ts';
import type { Cause } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import type { StoredChains } from '../configuration/stored-chains.ts';
import { auditPush } from './audit-configuration.ts';
import type { Engine } from './engine.ts';
import { fireByHand } from './fire-by-hand.ts';
import { countEndedChecks, fireOnce, firesNothing, firing } from './fire-once.ts';
import { onCi, onCiWithin } from './on-ci.ts';
import { onFireRequested } from './on-fire-requested.ts';
import { onGone, onRenamed } from './on-gone.ts';
import { onlyOurMerges, onPullRequest, type PullRequestDeps, RECHECK } from './on-pull-request.ts';
import { onRunRequested } from './on-run-requested.ts';
import { fireScheduled, followSchedulesJob, organisationName } from './schedules.ts';

export interface EventDeps extends PullRequestDeps {
  queue: Queue;
  storedChains: Pick<StoredChains, 'forget'>;
  /** A parameter, because judging a merge group needs parts that are created later. */
  onMergeGroup(event: EventOf<'group.requested' | 'group.destroyed'>): Promise<void>;
  /** A parameter, because finding what was missed belongs to recovery. */
  onInstallationBack(event: EventOf<'installation.back'>): Promise<void>;
  /** A parameter, because commands are an entry point of their own. */
  onCommand(event: EventOf<'command.issued'>, cause: Cause | null): Promise<void>;
  /** A parameter for the same reason. */
  onThreadReply(event: EventOf<'thread.replied'>, cause: Cause | null): Promise<void>;
}

/**
 * Handles an event. Each case reads the current state from GitHub and the database, so the order of events
 * does not matter.
 * @param cause the delivery of the event; `null` for events without one, fired by hand or found by recovery
 */
export async function onEvent(deps: EventDeps, event: Event, cause: Cause | null): Promise<void> {
  const deliveryId = cause?.deliveryId ?? null;
  const by = actorOf(event, deliveryId);
  const changed = changedBy(event);
  if (changed) deps.github.changed(event.installation_id, changed.repository, changed);
  switch (event.kind) {
    case 'pr.opened':
    case 'pr.updated': {
      const counted = await onPullRequest(deps, event, cause);
      if (counted) await countEndedChecks(deps, event, deliveryId, counted);
      return;
    }
    case 'pr.merged':
    case 'pr.closed':
      return thenFiring(deps, event, cause, async (ending) => {
        await onPullRequest(deps, event, ending);
      });
    case 'ci.changed':
      if (!event.ended) return onCi(deps, event, by, cause);
      return thenFiring(deps, event, cause, (ending) => onCi(deps, event, by, ending));
    case 'group.requested':
    case 'group.destroyed':
      return deps.onMergeGroup(event);
    case 'approval.changed':
      return onApproval(deps, event, by, cause);
    case 'command.issued':
      return deps.onCommand(event, cause);
    case 'thread.replied':
      return deps.onThreadReply(event, cause);
    case 'schedule.fired':
      return fireScheduled(deps, event);
    case 'manual.fired':
      return fireByHand(deps, event, cause);
    case 'run.requested':
      return onRunRequested(deps, event, cause);
    case 'fire.requested':
      return onFireRequested(deps, event);
    case 'file.changed':
      await onConfiguration(deps, event, by);
      await onBaseMoved(deps, event, by);
      return fireOnce(deps, event, deliveryId);
    case 'pr.labeled':
    case 'pr.review_submitted':
    case 'issue.created':
    case 'issue.labeled':
    case 'release.published':
    case 'invocation.completed':
      return fireOnce(deps, event, deliveryId);
    case 'installation.gone':
    case 'repository.gone':
      return onGone(deps, event, by);
    case 'installation.back':
      return deps.onInstallationBack(event);
    case 'repository.renamed':
      return onRenamed(deps, event);
    default:
      return unreachable(event);
  }
}

/**
 * Handles an event with the database alone. @returns whether that was possible; otherwise nothing was written, and
 * `onEvent` handles it
 */
export async function onEventWithin(
  deps: EventDeps,
  tx: Tx,
  event: EventOf<'pr.merged' | 'ci.changed'>,
  deliveryId: number,
): Promise<boolean> {
  if (!(await firesNothing(deps, tx, event))) return false;
  const changed = changedBy(event);
  if (changed) deps.github.changed(event.installation_id, changed.repository, changed);
  const by = actorOf(event, deliveryId);
  return event.kind === 'ci.changed'
    ? onCiWithin(deps, tx, event, by)
    : onlyOurMerges(deps, tx, event, by, null);
}

/** What the event says that has changed on GitHub. */
function changedBy(event: Event): (Changed & { repository: Repo }) | undefined {
  if (event.kind === 'ci.changed') return { repository: event.repository };
  if (event.kind === 'file.changed') return { repository: event.repository, branch: event.branch };
  if (!('pull_request' in event) || event.pull_request === null) return undefined;
  return { repository: event.repository, pullRequest: event.pull_request };
}

/** Most often no chain begins with such an event, and then one transaction is enough. */
async function thenFiring(
  deps: EventDeps,
  event: EventOf<'pr.merged' | 'pr.closed' | 'ci.changed'>,
  cause: Cause | null,
  first: (cause: Cause | null) => Promise<void>,
): Promise<void> {
  const fire = await firing(deps, event, cause?.deliveryId ?? null).catch((error) => () => {
    // The runs that are there move on, whatever becomes of the other chains.
    throw error;
  });
  if (!fire) return first(cause);
  await first(cause && { deliveryId: cause.deliveryId, sentAt: cause.sentAt });
  return fire();
}

/**
 * Wakes open approvals if their configuration may have changed. Each recheck compares it with what was asked.
 */
async function onConfiguration(deps: EventDeps, event: EventOf<'file.changed'>, by: Actor): Promise<void> {
  const { repository, branch, default_branch, forced, paths, installation_id: installationId } = event;
  const isOrganisation = repository.name === ORGANISATION_REPOSITORY && branch === default_branch;
  if (isOrganisation) deps.configuration.organisationPushed(repository.owner);
  const mayGovern = (path: string) => path.startsWith('.github/') || path.startsWith('countersign/');
  if (!forced && !paths.some(mayGovern)) return;
  deps.listening.forget(isOrganisation ? undefined : repository.id);
  if (branch === default_branch) await followChains(deps, event, isOrganisation);
  const where = isOrganisation ? { installationId } : { repositoryId: repository.id };
  await deps.storage.transaction(async (tx) => {
    await auditPush(tx, event);
    const runs = await tx.runs.list({ ...where, active: true });
    for (const run of runs) {
      if (isOrganisation || governingBranch(run) === branch)
        await deps.engine.signal(tx, run.id, RECHECK, by);
    }
  });
}

/** Reads the schedules of the repository, or of all of an organisation whose shared chains may have changed. */
async function followChains(
  deps: EventDeps,
  { installation_id, repository }: EventOf<'file.changed'>,
  isOrganisation: boolean,
): Promise<void> {
  const now = deps.clock.now();
  await deps.storage.transaction(async (tx) => {
    await deps.queue.enqueue(tx, followSchedulesJob(installation_id, repository));
    if (isOrganisation)
      await tx.cursors.set(organisationName(repository.owner), { at: now.toISOString() }, now);
  });
  if (isOrganisation)
    await deps.onInstallationBack({ kind: 'installation.back', installation_id, because: 'taken_in' });
}

async function onApproval(
  deps: EventDeps,
  event: EventOf<'approval.changed'>,
  by: Actor,
  cause: Cause | null,
): Promise<void> {
  await deps.storage.transaction(async (tx) => {
    const runs = await tx.runs.list({
      repositoryId: event.repository.id,
      pullRequest: event.pull_request,
      active: true,
    });
    for (const run of runs) await deps.engine.signal(tx, run.id, RECHECK, by);
    await cause?.end?.(tx);
  });
}

/**
 * After a push to a branch, rechecks the steps that wait because of a conflict with it. GitHub sends no event
 * when a pull request becomes mergeable. Other waits are left alone, because a busy base branch would
 * otherwise wake every open approval.
 */
async function onBaseMoved(
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
