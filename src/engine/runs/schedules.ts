import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { nextAfter, whatIsDue } from '../../domain/chain/schedule.ts';
import { keyOfSchedule, schedulesOf } from '../../domain/chain/trigger-schema.ts';
import type { EventOf, RepositoryRef } from '../../domain/event/event.ts';
import { actorOf } from '../../domain/run/actor.ts';
import { newRun } from '../../domain/run/new-run.ts';
import type { Run } from '../../domain/run/run.ts';
import { scheduledRunReplaced } from '../../messages/run/schedule.ts';
import type { Firing, ScheduleRow, SkippedBecause } from '../../ports/firings.ts';
import type { JobResult, JobRunner, NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import { expireComposites } from './composites.ts';
import { notInForce } from './fire-by-hand.ts';
import { firingJob } from './firing-job.ts';
import { noteRepository } from './note-repository.ts';
import type { PullRequestDeps } from './on-pull-request.ts';
import { governedBy, repositoryFacts } from './run-facts.ts';

/** How many schedules one transaction evaluates. */
const BATCH = 100;
/** How many firings of a chain may wait for the end of an earlier run. */
const MAX_QUEUED = 10;
/** How long the evaluation sleeps at most, in milliseconds, so that it never depends on a lost job. */
const AT_LEAST_EVERY_MS = 3_600_000;

export interface Evaluated {
  /** How many schedules were due. */
  evaluated: number;
  firings: Firing[];
  /** More may be due. */
  isMore: boolean;
}

/**
 * Records what is due, and the events that begin its runs, and what composites no longer wait for. The command line, a daemon and the app can all do this at
 * once: the row of a firing is unique, and only who inserts it sends its event.
 */
export async function evaluateSchedules(
  { storage, queue, clock, ids }: { storage: Storage; queue: Pick<Queue, 'enqueue'>; clock: Clock; ids: Ids },
  limit: number,
): Promise<Evaluated> {
  return storage.transaction(async (tx) => {
    const now = clock.now();
    const rows = await tx.schedules.due(now, limit);
    const firings: Firing[] = [];
    for (const row of rows) {
      const { fire, skipped, next } = whatIsDue(row.schedule, row.nextAt, now);
      for (const { at, count, because } of skipped) {
        const summary = MISSED[because](at, count);
        const firing = firingOf(row, at, ids, now, { status: 'skipped', reason: because, summary, count });
        if (await tx.firings.insert(firing)) firings.push(firing);
      }
      for (const at of fire) {
        const firing = firingOf(row, at, ids, now, { status: 'due' });
        if (!(await tx.firings.insert(firing))) continue;
        await queue.enqueue(tx, firingJob(firing));
        firings.push(firing);
      }
      if (next) await tx.schedules.put({ ...row, nextAt: next });
      else await tx.schedules.remove(row);
    }
    const composites = await expireComposites({ clock, ids }, tx, limit);
    return {
      evaluated: rows.length,
      firings: [...firings, ...composites.firings],
      isMore: rows.length === limit || composites.expired === limit,
    };
  });
}

const times = (at: Date, count: number) =>
  count === 1 ? `the firing of ${at.toISOString()}` : `${count} firings or more from ${at.toISOString()} on`;

const MISSED = {
  missed: (at: Date, count: number) =>
    `${times(at, count)} came due while nothing evaluated schedules, and catchup is none`,
  replaced: (at: Date, count: number) =>
    `${times(at, count)} came due while nothing evaluated schedules, and a later one fires instead`,
  too_old: (at: Date, count: number) =>
    `${times(at, count)} came due while nothing evaluated schedules, longer ago than catchup_window`,
} as const;

function firingOf(
  row: ScheduleRow,
  at: Date,
  ids: Ids,
  now: Date,
  what: Pick<Firing, 'status'> & Partial<Pick<Firing, 'reason' | 'summary' | 'count'>>,
): Firing {
  const { repositoryId, chain, trigger, installationId, repository } = row;
  const place = { repositoryId, chain, trigger, installationId, repository };
  const fresh = { reason: null, summary: null, count: 1, ...what };
  const occasion = at.toISOString();
  return {
    id: ids.next('fir'),
    ...place,
    occasion,
    ...fresh,
    runId: ids.next('run'),
    pullRequest: null,
    dueAt: at,
    updatedAt: now,
  };
}

/** The jobs of schedules: one evaluates them all, and one a repository follows its chain files. */
export function scheduleJobs(deps: PullRequestDeps & { queue: Queue }): JobRunner<'schedules'> {
  const { storage, clock, log } = deps;
  return {
    async run(payload): Promise<JobResult> {
      if (payload.of === 'repository') {
        await followSchedules(deps, payload.installation_id, payload.repository);
        return { kind: 'done' };
      }
      const { isMore, firings } = await evaluateSchedules(deps, BATCH);
      logFirings(log, firings);
      // Other work gets its turn between batches.
      if (isMore) return { kind: 'reschedule', at: clock.now() };
      const latest = clock.now().getTime() + AT_LEAST_EVERY_MS;
      const next = [await storage.read.schedules.nextAt(), await storage.read.composites.nextAt()];
      const times = next.map((at) => at?.getTime() ?? latest);
      return { kind: 'reschedule', at: new Date(Math.min(...times, latest)) };
    },
    async onRetriesExhausted(payload, err) {
      log.error({ job: 'schedules', payload, err }, 'gave up on schedules');
      const runAt = new Date(clock.now().getTime() + 60_000);
      if (payload.of === 'all')
        await storage.transaction((tx) => deps.queue.enqueue(tx, evaluationJob(runAt)));
    },
  };
}

function logFirings(log: Log, firings: readonly Firing[]): void {
  for (const { chain, repository, summary, reason } of firings) {
    if (reason !== null) log.warn({ chain, repository, reason }, summary ?? 'a schedule did not fire');
  }
}

export function evaluationJob(runAt: Date): NewJob {
  return {
    kind: 'schedules',
    installationId: null,
    key: 'schedules',
    payload: { of: 'all' },
    runAt,
    coalesce: true,
  };
}

/** The job that reads the schedules of a repository's chains. */
export function followSchedulesJob(installationId: number, repository: RepositoryRef): NewJob {
  return {
    kind: 'schedules',
    installationId,
    key: `schedules:${repository.id}`,
    payload: { of: 'repository', installation_id: installationId, repository },
    coalesce: true,
  };
}

/**
 * Makes the rows of a repository's schedules those of the chains of its default branch. A schedule that stays keeps its
 * next time. While a file has errors, the rows of its chain stay: when they fire, the reason is recorded.
 */
async function followSchedules(
  { storage, queue, github, configuration, clock }: PullRequestDeps & { queue: Queue },
  installationId: number,
  repository: RepositoryRef,
): Promise<void> {
  const { defaultBranch } = await github.reader(installationId, 'background').repository(repository);
  const found = await configuration.atBranch(installationId, repository, defaultBranch);
  const now = clock.now();
  const wanted = (found?.chains ?? []).flatMap((chain) =>
    schedulesOf(chain).flatMap((schedule): ScheduleRow[] => {
      const next = nextAfter(schedule, now);
      const place = { repositoryId: repository.id, chain: chain.name, installationId };
      const name = `${repository.owner}/${repository.name}`;
      return next
        ? [{ ...place, trigger: keyOfSchedule(schedule), repository: name, schedule, nextAt: next }]
        : [];
    }),
  );
  const isBroken = (found?.broken.length ?? 0) > 0;
  await storage.transaction(async (tx) => {
    const before = await tx.schedules.ofRepository(repository.id);
    const same = (one: ScheduleRow, other: ScheduleRow) =>
      one.chain === other.chain && one.trigger === other.trigger;
    for (const row of before) {
      if (!isBroken && !wanted.some((other) => same(row, other))) await tx.schedules.remove(row);
    }
    for (const row of wanted) {
      const known = before.find((other) => same(row, other));
      await tx.schedules.put(known ? { ...row, nextAt: known.nextAt } : row);
    }
    if (found) await noteRepository(tx, { installation_id: installationId, repository }, found, now);
    await tx.cursors.set(followedName(repository.id), { at: now.toISOString() }, now);
    const next = await tx.schedules.nextAt();
    if (next) await queue.enqueue(tx, evaluationJob(next));
  });
}

/** The cursor that says when the schedules of a repository were last read. */
export function followedName(repositoryId: number): string {
  return `schedules:${repositoryId}`;
}

/** The cursor that says when the chains of an organisation last changed. */
export function organisationName(owner: string): string {
  return `schedules-of:${owner.toLowerCase()}`;
}

/**
 * Begins the run of a firing, under the chain that the default branch has now. What keeps it from running is recorded
 * with the firing.
 */
export async function fireScheduled(deps: PullRequestDeps, event: EventOf<'schedule.fired'>): Promise<void> {
  const { storage, github, configuration, engine, clock, ids, log } = deps;
  const repo = event.repository;
  const firing = await storage.read.firings.get(event.firing_id);
  if (!firing || (firing.status !== 'due' && firing.status !== 'queued')) return;
  const { defaultBranch } = await github.reader(event.installation_id, 'background').repository(repo);
  const found = await configuration.atBranch(event.installation_id, repo, defaultBranch);
  await storage.transaction(async (tx) => {
    const current = await tx.firings.get(event.firing_id);
    if (!current || (current.status !== 'due' && current.status !== 'queued')) return;
    const now = clock.now();
    const skip = async (reason: SkippedBecause, summary: string) => {
      await tx.firings.save({ ...current, status: 'skipped', reason, summary, updatedAt: now });
      log.warn({ chain: event.chain, repository: current.repository, reason }, summary);
    };
    const chain = found?.chains.find(({ name }) => name === event.chain);
    const isBroken = found?.broken.some(
      ({ kind, chain: name }) => kind === 'settings' || name === event.chain,
    );
    const because = found && isBroken ? notInForce(found, event.chain) : undefined;
    if (because !== undefined) return skip('broken', because);
    const schedule = chain && schedulesOf(chain).find((one) => keyOfSchedule(one) === event.schedule);
    if (!found || !chain || !schedule)
      return skip(
        'gone',
        `the chain ${event.chain} has no schedule ${event.schedule} on ${defaultBranch} any more`,
      );
    const hold = found.held?.find(({ name }) => name === event.chain);
    if (hold) return skip('paused', `the chain ${event.chain} is ${hold.status}`);
    const running = await scheduledRuns(tx, event);
    const [first] = running;
    if (first && schedule.overlap === 'skip')
      return skip('overlap', `the run ${first.id} of ${event.chain} is still under way`);
    if (first && schedule.overlap === 'queue') {
      if (current.status === 'queued') return;
      const before = await tx.firings.queued({ repositoryId: repo.id, chain: event.chain });
      if (before.length >= MAX_QUEUED)
        return skip('queue_full', `${MAX_QUEUED} firings of ${event.chain} wait already`);
      return tx.firings.save({ ...current, status: 'queued', updatedAt: now });
    }
    const state = newRun(
      {
        id: event.run_id,
        chain,
        settings: found.settings,
        event,
        deliveryId: null,
        pullRequest: null,
        headSha: found.sha,
        baseRef: defaultBranch,
        baseSha: found.sha,
        facts: {
          repo: repositoryFacts(event, defaultBranch),
          trigger: {
            kind: 'schedule',
            event: event.kind,
            actor: null,
            schedule: event.schedule,
            due_at: event.due_at,
            late: now.getTime() - new Date(event.due_at).getTime() > LATE_MS,
            head_sha: found.sha,
            branch: defaultBranch,
          },
          fired: { source: event.kind, occasion: event.due_at },
          ...governedBy(found, chain),
        },
        paused: false,
      },
      ids,
      now,
    );
    if (schedule.overlap === 'cancel_running') {
      for (const run of running) {
        const end = { kind: 'end', status: 'cancelled', reason: scheduledRunReplaced(state.run) } as const;
        await engine.signal(tx, run.id, end, actorOf(event, null));
      }
    }
    await tx.firings.save({ ...current, status: 'fired', updatedAt: now });
    await engine.begin(tx, state);
  });
}

/** From here on, a firing counts as late for `trigger.late`, in milliseconds. */
const LATE_MS = 300_000;

/** The unfinished runs of the chain that a schedule began. */
async function scheduledRuns(tx: Tx, { repository, chain }: EventOf<'schedule.fired'>): Promise<Run[]> {
  const active = await tx.runs.list({ repositoryId: repository.id, chain, active: true });
  return active.filter(({ facts }) => facts.fired?.source === 'schedule.fired');
}

/** The app could not begin the run, however often it tried. */
export async function neverFired(
  { storage, clock }: { storage: Storage; clock: Clock },
  event: EventOf<'schedule.fired'>,
  because: string,
): Promise<void> {
  await storage.transaction(async (tx) => {
    const firing = await tx.firings.get(event.firing_id);
    if (!firing || firing.status === 'fired' || firing.status === 'skipped') return;
    const summary = `the app gave up: ${because}`;
    await tx.firings.save({
      ...firing,
      status: 'skipped',
      reason: 'unreachable',
      summary,
      updatedAt: clock.now(),
    });
  });
}
