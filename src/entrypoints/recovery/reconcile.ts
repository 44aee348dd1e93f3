import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { unreachable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Event, RepositoryRef } from '../../domain/event/event.ts';
import { questionsJob } from '../../engine/approvals/question-poller.ts';
import { gateJob } from '../../engine/effects/gate-check.ts';
import { followedName, followSchedulesJob, organisationName } from '../../engine/runs/schedules.ts';
import {
  type GitHub,
  GitHubError,
  type InstalledRepository,
  type ListedPullRequest,
} from '../../ports/github.ts';
import { eventJob, type JobPayload, type JobResult, type NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage, Tx } from '../../ports/storage.ts';

/**
 * How far before the newest known change each listing starts, in milliseconds. GitHub's lists lag, so an
 * older change can appear after a newer one.
 */
const LAG_MS = 5 * 60_000;

/**
 * The changes of a repository's pull requests that were seen. `recent` holds those that the next listing
 * returns again.
 */
const seenSchema = z.strictObject({
  until: z.iso.datetime(),
  recent: z.record(z.string(), z.iso.datetime()),
});
type Seen = z.infer<typeof seenSchema>;

/** How often all installations are compared, in milliseconds. Each start also begins with it. */
const RECONCILE_EVERY_MS = 60 * 60_000;

type ReconcileJob = JobPayload<'reconcile'>;

const progressSchema = z.strictObject({
  /** The last repository that was compared. Repositories are taken in the order of their ids. */
  after: z.int(),
  /** The repository at which the last attempt failed. */
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
 * Compares GitHub with what this app has seen, in case a webhook never arrives. Pull requests that were
 * pushed to, retargeted, closed or merged become events like those of a webhook, and the engine reads them
 * again from GitHub. Missed reactions are found by the poll of the approval comment. Costs one request per
 * repository while nothing changes.
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

/** The job of one installation. Several at the same time become one. */
export function reconcileInstallationJob(installationId: number): NewJob {
  const payload: ReconcileJob = { of: 'installation', installation_id: installationId };
  return { kind: 'reconcile', installationId, key: `reconcile:${installationId}`, payload, coalesce: true };
}

/** One repository after another, so that an installation of any size occupies only one place in the queue. */
async function oneInstallation(
  deps: ReconcileDeps,
  installationId: number,
  signal: AbortSignal,
): Promise<JobResult> {
  const { storage, queue, clock } = deps;
  const key = progressKey(installationId);
  let { after } = await progressAt(deps, key);
  await closeGates(deps, installationId);
  const repositories = await deps.github.reader(installationId, 'background').repositories();
  const left = repositories.filter(({ id, readOnly }) => id > after && !readOnly).sort((a, b) => a.id - b.id);
  for (const repository of left) {
    if (signal.aborted) return { kind: 'reschedule', at: clock.now() };
    try {
      const { events, seen } = await readChanges(deps, installationId, repository);
      await storage.transaction(async (tx) => {
        await queue.enqueue(tx, ...events.map((event) => eventJob(event)));
        if (seen) await tx.cursors.set(seenName(repository), seen, clock.now());
        if (await areSchedulesOld(deps, tx, repository))
          await queue.enqueue(tx, followSchedulesJob(installationId, schedulePlace(repository)));
        await tx.cursors.set(key, { after: repository.id }, clock.now());
      });
    } catch (error) {
      await setProgress(deps, key, { after, failed_at: repository.id });
      throw error;
    }
    after = repository.id;
  }
  await setProgress(deps, key, { after: 0 });
  return { kind: 'done' };
}

/** How old the schedules of a repository may be, in milliseconds, if no push said that they changed. */
const SCHEDULES_MS = 24 * 3_600_000;

function schedulePlace({ id, owner, name }: InstalledRepository): RepositoryRef {
  return { id, owner, name };
}

/**
 * Whether the schedules of the repository may have changed unseen: a push was missed, or chains of its organisation or
 * of the operator changed.
 */
async function areSchedulesOld(
  { clock }: ReconcileDeps,
  tx: Tx,
  { id, owner }: InstalledRepository,
): Promise<boolean> {
  const timeOf = async (name: string) => {
    const read = followedSchema.safeParse(await tx.cursors.get(name));
    return read.success ? new Date(read.data.at) : undefined;
  };
  const followed = await timeOf(followedName(id));
  if (!followed || clock.now().getTime() - followed.getTime() >= SCHEDULES_MS) return true;
  const changed = await timeOf(organisationName(owner));
  const stored = await tx.chains.changedAt(owner);
  return [changed, stored].some((at) => at !== undefined && at >= followed);
}

const followedSchema = z.object({ at: z.iso.datetime() });

/**
 * Requests to close gate checks that GitHub may still show as open, because it refused to close them or was
 * unavailable until retries were exhausted. This installation is reachable now, so the request may succeed.
 */
async function closeGates({ storage, queue, clock }: ReconcileDeps, installationId: number): Promise<void> {
  await storage.transaction(async (tx) => {
    const keys = await tx.effects.gatesToClose(installationId);
    await queue.enqueue(tx, ...keys.map((key) => gateJob(key, installationId, clock.now())));
    // In case the job was lost: without it, no answer would be noticed.
    await queue.enqueue(tx, questionsJob(installationId, clock.now()));
  });
}

/**
 * Called when retries are exhausted: skips the repository that failed, until the next pass. Otherwise one
 * that always fails would block all repositories after it.
 */
export async function skipFailedRepository(deps: ReconcileDeps, job: ReconcileJob): Promise<void> {
  if (job.of === 'installations') return;
  const key = progressKey(job.installation_id);
  const { failed_at: failedAt } = await progressAt(deps, key);
  if (failedAt !== undefined) await setProgress(deps, key, { after: failedAt });
}

function progressKey(installationId: number): string {
  return `reconcile:${installationId}`;
}

async function progressAt({ storage }: ReconcileDeps, key: string): Promise<Progress> {
  const stored = await storage.read.cursors.get(key);
  return stored === undefined ? { after: 0 } : progressSchema.parse(stored);
}

function setProgress({ storage, clock }: ReconcileDeps, key: string, progress: Progress): Promise<void> {
  return storage.transaction((tx) => tx.cursors.set(key, progress, clock.now()));
}

type PullRequestEvent = Extract<Event, { kind: 'pr.updated' | 'pr.merged' | 'pr.closed' }>;

/**
 * The changes of one repository as events, oldest first. A repository that cannot be read does not block the
 * others.
 */
async function readChanges(
  { github, storage, clock, log }: ReconcileDeps,
  installationId: number,
  repository: InstalledRepository,
): Promise<{ events: PullRequestEvent[]; seen?: Seen }> {
  const stored = await storage.read.cursors.get(seenName(repository));
  const before = stored === undefined ? seenUntil(clock.now()) : seenSchema.parse(stored);
  try {
    const listed = await github
      .reader(installationId, 'background')
      .pullRequestsChangedAfter(repository, listFrom(before));
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

/**
 * The state for the first listing of a repository. Earlier changes are ignored until somebody changes the
 * pull request again.
 */
function seenUntil(moment: Date): Seen {
  return { until: moment.toISOString(), recent: {} };
}

/** The start of the next listing. */
function listFrom(seen: Seen): Date {
  return new Date(Date.parse(seen.until) - LAG_MS);
}

/**
 * The new changes of a listing, and the updated state. Uses only GitHub's times, so the local clock does not
 * matter.
 */
function changesSince(
  seen: Seen,
  listed: readonly ListedPullRequest[],
): { changed: ListedPullRequest[]; seen: Seen } {
  const times = listed.map(({ updatedAt }) => updatedAt.getTime());
  const until = new Date(Math.max(Date.parse(seen.until), ...times)).toISOString();
  const recentFrom = listFrom({ until, recent: {} });
  const recent = listed
    .filter(({ updatedAt }) => updatedAt > recentFrom)
    .map(({ number, updatedAt }) => [String(number), updatedAt.toISOString()]);
  return {
    changed: listed.filter(({ number, updatedAt }) => seen.recent[number] !== updatedAt.toISOString()),
    seen: { until, recent: Object.fromEntries(recent) },
  };
}
