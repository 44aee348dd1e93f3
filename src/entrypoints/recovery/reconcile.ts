import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { unreachable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Event } from '../../domain/event/event.ts';
import { effectJob } from '../../engine/effects/outbox.ts';
import {
  type GitHub,
  GitHubError,
  type InstalledRepository,
  type ListedPullRequest,
} from '../../ports/github.ts';
import { eventJob, type JobPayload, type JobResult, type NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage } from '../../ports/storage.ts';
import { changesSince, lookFrom, type Seen, seenSchema, seenUntil } from './changes.ts';

/** How often every installation is gone through, in milliseconds. Each start begins with it, too. */
export const RECONCILE_EVERY_MS = 60 * 60_000;

type ReconcileJob = JobPayload<'reconcile'>;

const progressSchema = z.strictObject({
  /** The repository of an installation that was gone through last; they are taken in the order of their ids. */
  after: z.int(),
  /** The one at which the last try failed. */
  failed_at: z.int().optional(),
});
type Progress = z.infer<typeof progressSchema>;

export interface ReconcileDeps {
  storage: Storage;
  queue: Pick<Queue, 'enqueue'>;
  github: GitHub;
  clock: Clock;
  log: Log;
}

/**
 * Compares what GitHub has with what this app has seen, in case no webhook ever tells: pull requests that were pushed
 * to, retargeted, closed or merged meanwhile become events like those of a webhook, and are then read fresh. What was
 * countersigned meanwhile is found by the approval's own look. One request for each repository while nothing changes.
 */
export async function reconcile(
  deps: ReconcileDeps,
  job: ReconcileJob,
  signal: AbortSignal,
): Promise<JobResult> {
  switch (job.of) {
    case 'installations':
      return allInstallations(deps);
    case 'installation':
      return oneInstallation(deps, job.installation_id, signal);
    default:
      return unreachable(job);
  }
}

async function allInstallations({ github, storage, queue, clock }: ReconcileDeps): Promise<JobResult> {
  const installations = await github.app.installations();
  const jobs = installations
    .filter(({ suspended }) => !suspended)
    .map(({ id }) => reconcileInstallationJob(id));
  await storage.transaction((tx) => queue.enqueue(tx, ...jobs));
  return { kind: 'reschedule', at: new Date(clock.now().getTime() + RECONCILE_EVERY_MS) };
}

/** What the payload of one installation's job is made of; many that come at once are one. */
export function reconcileInstallationJob(installationId: number): NewJob {
  const payload: ReconcileJob = { of: 'installation', installation_id: installationId };
  return { kind: 'reconcile', key: `reconcile:${installationId}`, payload, coalesce: true };
}

/** One repository after another: however many there are, they take one of the queue's places. */
async function oneInstallation(
  deps: ReconcileDeps,
  installationId: number,
  signal: AbortSignal,
): Promise<JobResult> {
  const { storage, queue, clock } = deps;
  const place = placeOf(installationId);
  let { after } = await progressAt(deps, place);
  await closeGates(deps, installationId);
  const repositories = await deps.github.reader(installationId, 'background').repositories();
  const left = repositories.filter(({ id, readOnly }) => id > after && !readOnly).sort((a, b) => a.id - b.id);
  for (const repository of left) {
    if (signal.aborted) return { kind: 'reschedule', at: clock.now() };
    try {
      const { events, seen } = await look(deps, installationId, repository);
      await storage.transaction(async (tx) => {
        await queue.enqueue(tx, ...events.map((event) => eventJob(event)));
        if (seen) await tx.cursors.set(seenName(repository), seen, clock.now());
        await tx.cursors.set(place, { after: repository.id }, clock.now());
      });
    } catch (error) {
      await setProgress(deps, place, { after, failed_at: repository.id });
      throw error;
    }
    after = repository.id;
  }
  await setProgress(deps, place, { after: 0 });
  return { kind: 'done' };
}

/**
 * Gate checks that GitHub may still show as open, since it refused or could not be asked to close them, possibly for so long that
 * nobody tries any more. Now that this installation is looked at, it may take the request again.
 */
async function closeGates({ storage, queue, clock }: ReconcileDeps, installationId: number): Promise<void> {
  await storage.transaction(async (tx) => {
    const keys = await tx.effects.gatesToClose(installationId);
    await queue.enqueue(tx, ...keys.map((key) => effectJob(key, clock.now())));
  });
}

/**
 * The queue gave up: the repository at which it was each time is passed over until the next look. Else one that GitHub always fails
 * at would keep all after it from ever being looked at.
 */
export async function passOver(deps: ReconcileDeps, job: ReconcileJob): Promise<void> {
  if (job.of === 'installations') return;
  const place = placeOf(job.installation_id);
  const { failed_at: failedAt } = await progressAt(deps, place);
  if (failedAt !== undefined) await setProgress(deps, place, { after: failedAt });
}

function placeOf(installationId: number): string {
  return `reconcile:${installationId}`;
}

async function progressAt({ storage }: ReconcileDeps, place: string): Promise<Progress> {
  const stored = await storage.read.cursors.get(place);
  return stored === undefined ? { after: 0 } : progressSchema.parse(stored);
}

function setProgress({ storage, clock }: ReconcileDeps, place: string, progress: Progress): Promise<void> {
  return storage.transaction((tx) => tx.cursors.set(place, progress, clock.now()));
}

type PullRequestEvent = Extract<Event, { kind: 'pr.updated' | 'pr.merged' | 'pr.closed' }>;

/** What changed in one repository, as events, oldest first. A repository that cannot be read does not hold up the others. */
async function look(
  { github, storage, clock, log }: ReconcileDeps,
  installationId: number,
  repository: InstalledRepository,
): Promise<{ events: PullRequestEvent[]; seen?: Seen }> {
  const stored = await storage.read.cursors.get(seenName(repository));
  const before = stored === undefined ? seenUntil(clock.now()) : seenSchema.parse(stored);
  try {
    const listed = await github
      .reader(installationId, 'background')
      .pullRequestsChangedAfter(repository, lookFrom(before));
    const { changed, seen } = changesSince(before, listed);
    const events = changed.map((pull) => eventOf(installationId, repository, pull));
    return { events, seen };
  } catch (error) {
    if (!(error instanceof GitHubError) || !['not_found', 'forbidden', 'invalid'].includes(error.kind)) {
      throw error;
    }
    log.warn(
      { installation: installationId, repository: repository.id, err: error.message },
      'a repository could not be reconciled',
    );
    return { events: [] };
  }
}

function eventOf(
  installationId: number,
  { id, owner, name }: InstalledRepository,
  { number, state, merged, updatedAt }: ListedPullRequest,
): PullRequestEvent {
  const at = { installation_id: installationId, repository: { id, owner, name }, pull_request: number };
  if (merged) return { kind: 'pr.merged', ...at };
  if (state === 'closed') return { kind: 'pr.closed', ...at };
  return { kind: 'pr.updated', ...at, action: 'reconciled', updated_at: updatedAt.toISOString() };
}

function seenName({ id }: InstalledRepository): string {
  return `pull-requests:${id}`;
}
