import { unreachable } from '../../core/errors.ts';
import type { Event, EventOf } from '../../domain/event/event.ts';
import { type Actor, actorOf, type Cause } from '../../domain/run/actor.ts';
import { governingBranch } from '../../domain/run/run.ts';
import { ORGANISATION_REPOSITORY } from '../configuration/configuration-files.ts';
import { auditPush } from './audit-configuration.ts';
import { fireByHand } from './fire-by-hand.ts';
import { fireOnce } from './fire-once.ts';
import { onBaseMoved } from './on-base-moved.ts';
import { onCi } from './on-ci.ts';
import { onGone, onRenamed } from './on-gone.ts';
import { LOOK, onPullRequest, type PullRequestDeps } from './on-pull-request.ts';

export interface EventDeps extends PullRequestDeps {
  /** Judging a merge group takes what judges a step, which comes after this. */
  onMergeGroup(event: EventOf<'group.requested' | 'group.destroyed'>): Promise<void>;
  /** Looking for what was missed meanwhile is recovery's. */
  onInstallationBack(event: EventOf<'installation.back'>): Promise<void>;
  /** Commands are a door of their own; the engine only hands the event on. */
  onCommand(event: EventOf<'command.issued'>, cause: Cause | null): Promise<void>;
}

/**
 * Everything an event sets in motion. Each case reads the truth from GitHub and the database; order does not matter.
 * @param cause the delivery it was read from; `null` when none brought it: fired by hand, or found by looking
 */
export async function onEvent(deps: EventDeps, event: Event, cause: Cause | null): Promise<void> {
  const deliveryId = cause?.deliveryId ?? null;
  const by = actorOf(event, deliveryId);
  switch (event.kind) {
    case 'pr.opened':
    case 'pr.updated':
      return onPullRequest(deps, event, deliveryId);
    case 'pr.merged':
    case 'pr.closed':
      await onPullRequest(deps, event, deliveryId);
      return fireOnce(deps, event, deliveryId);
    case 'ci.changed':
      return onCi(deps, event, by);
    case 'group.requested':
    case 'group.destroyed':
      return deps.onMergeGroup(event);
    case 'approval.changed':
      return onApproval(deps, event, by);
    case 'command.issued':
      return deps.onCommand(event, cause);
    case 'manual.fired':
      return fireByHand(deps, event, deliveryId);
    case 'file.changed':
      await onConfiguration(deps, event, by);
      await onBaseMoved(deps, event, by);
      return fireOnce(deps, event, deliveryId);
    case 'issue.created':
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

/** Open questions are looked at again when what governs them may have changed; each look compares it with what they asked. */
async function onConfiguration(deps: EventDeps, event: EventOf<'file.changed'>, by: Actor): Promise<void> {
  const { repository, branch, default_branch, forced, paths, installation_id: installationId } = event;
  const isOrganisation = repository.name === ORGANISATION_REPOSITORY && branch === default_branch;
  if (isOrganisation) deps.configuration.organisationPushed(repository.owner);
  const mayGovern = (path: string) => path.startsWith('.github/') || path.startsWith('countersign/');
  if (!forced && !paths.some(mayGovern)) return;
  const where = isOrganisation ? { installationId } : { repositoryId: repository.id };
  await deps.storage.transaction(async (tx) => {
    await auditPush(tx, event);
    const runs = await tx.runs.list({ ...where, active: true });
    for (const run of runs) {
      if (isOrganisation || governingBranch(run) === branch) await deps.engine.signal(tx, run.id, LOOK, by);
    }
  });
}

async function onApproval(deps: EventDeps, event: EventOf<'approval.changed'>, by: Actor): Promise<void> {
  await deps.storage.transaction(async (tx) => {
    const runs = await tx.runs.list({
      repositoryId: event.repository.id,
      pullRequest: event.pull_request,
      active: true,
    });
    for (const run of runs) await deps.engine.signal(tx, run.id, LOOK, by);
  });
}
