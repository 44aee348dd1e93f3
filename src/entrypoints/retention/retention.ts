import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { aboutNothing } from '../../domain/audit/entry.ts';
import type { Blobs } from '../../ports/blobs.ts';
import { type GitHub, GitHubError } from '../../ports/github.ts';
import type { JobResult, JobRunner, NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { PrunedId, PrunedKind, PullRequestPlace, PullRequestState } from '../../ports/retention.ts';
import type { Storage } from '../../ports/storage.ts';

/** How long each kind is kept after its end, in milliseconds; `null` keeps it forever. */
export interface RetentionPeriods {
  /** The bodies of webhooks. */
  bodies: number | null;
  /** Runs with everything that belongs to them, and the deliveries that started them. */
  runs: number | null;
  /** Files and outcomes of steps. */
  artifacts: number | null;
  /** Inputs and outputs of skills. */
  traces: number | null;
}

export interface RetentionDeps {
  storage: Storage;
  blobs: Blobs;
  github: Pick<GitHub, 'reader'>;
  clock: Clock;
  log: Log;
  periods: RetentionPeriods;
}

/**
 * Passes schedule themselves. When retries are exhausted, the next pass starts like the first one after a
 * start of the app.
 */
export function retentionJobs(
  deps: Omit<RetentionDeps, 'periods'> & {
    queue: Pick<Queue, 'enqueue'>;
    periods: RetentionPeriods | undefined;
  },
): JobRunner<'retention'> {
  const { storage, queue, clock, log, periods } = deps;
  return {
    async run(_, signal) {
      return periods === undefined ? { kind: 'done' } : retain({ ...deps, periods }, signal);
    },
    async onRetriesExhausted(_, err) {
      log.error({ job: 'retention', err }, 'gave up on deleting what is over for long; tried again later');
      if (periods !== undefined)
        await storage.transaction((tx) => queue.enqueue(tx, retentionJob(clock.now())));
    },
  };
}

/**
 * The time from the start of the app to the first pass, in milliseconds, because a start has enough other
 * work.
 */
const FIRST_PASS_MS = 10 * 60_000;
/** From the end of a pass to the next. */
const NEXT_PASS_MS = 24 * 3_600_000;
/** The pause between two turns of a pass, when no other job is due and when one is. */
const PAUSE_MS = 500;
const BUSY_PAUSE_MS = 5_000;
/** Batches per turn if no other job is due; otherwise one. */
const BATCHES_A_TURN = 10;
/** Pages of the database file that one transaction frees. */
const PAGES_A_BATCH = 500;
/** Blobs deleted per batch, and concurrent requests to the store. */
const BLOBS_A_BATCH = 200;
const BLOBS_AT_ONCE = 8;

/**
 * Rows that one transaction removes at most, because it blocks all other writers. A run has about a hundred
 * rows.
 */
const BATCH: Readonly<Record<PrunedKind, number>> = {
  traces: 200,
  archives: 25,
  artifacts: 200,
  archived_bodies: 4,
  bodies: 500,
  runs: 25,
  calls: 50,
  replies: 200,
  pull_requests: 50,
  archived_deliveries: 4,
  deliveries: 500,
  firings: 500,
  fired_once: 200,
};

/**
 * The order matters: what belongs to a run goes before the run, and a delivery after the runs that it
 * started.
 */
const STEPS: readonly { kind: PrunedKind; period: keyof RetentionPeriods | 'replays' }[] = [
  { kind: 'traces', period: 'traces' },
  { kind: 'archives', period: 'artifacts' },
  { kind: 'artifacts', period: 'artifacts' },
  { kind: 'archived_bodies', period: 'bodies' },
  { kind: 'bodies', period: 'bodies' },
  { kind: 'runs', period: 'runs' },
  { kind: 'calls', period: 'runs' },
  { kind: 'replies', period: 'runs' },
  { kind: 'pull_requests', period: 'runs' },
  { kind: 'archived_deliveries', period: 'runs' },
  { kind: 'deliveries', period: 'runs' },
  { kind: 'firings', period: 'runs' },
  { kind: 'fired_once', period: 'replays' },
];

/** How long figures by day are kept, in milliseconds: more than the longest period that people can choose. */
const FIGURES_MS = 100 * 86_400_000;
const CURSOR = 'retention';

/** The progress of a pass, so that a restart continues there. Between passes: when the last one ended. */
const positionSchema = z.discriminatedUnion('at', [
  z.strictObject({ at: z.literal('rest'), since: z.iso.datetime() }),
  z.strictObject({
    at: z.literal('work'),
    begun: z.iso.datetime(),
    /** The index in `STEPS`. After the last step, disk space is freed. */
    step: z.int(),
    after: z.json(),
    deleted: z.record(z.string(), z.int()),
  }),
]);
type Position = z.infer<typeof positionSchema>;
type Working = Extract<Position, { at: 'work' }>;

/** The first job. It then reschedules itself. */
export function retentionJob(now: Date): NewJob {
  const runAt = new Date(now.getTime() + FIRST_PASS_MS);
  return { kind: 'retention', installationId: null, key: 'retention', payload: {}, runAt, coalesce: true };
}

/**
 * Executes one turn of a pass: some small batches, each in its own transaction, with webhooks and other work
 * in between. While another job is due, a turn is one batch with a long pause after it, so that the pass also
 * proceeds on an app that is always busy.
 */
export async function retain(deps: RetentionDeps, signal: AbortSignal): Promise<JobResult> {
  const { storage, clock } = deps;
  const stored = await storage.read.cursors.get(CURSOR);
  let position: Position =
    stored === undefined ? { at: 'rest', since: new Date(0).toISOString() } : positionSchema.parse(stored);
  if (position.at === 'rest') {
    const next = new Date(Date.parse(position.since) + NEXT_PASS_MS);
    if (next > clock.now()) return { kind: 'reschedule', at: next };
    position = { at: 'work', begun: clock.now().toISOString(), step: 0, after: null, deleted: {} };
  }
  // Left over from an interrupted turn or another process.
  await deleteBlobs(deps);
  const busy = await isBusy(deps);
  for (let left = busy ? 1 : BATCHES_A_TURN; left > 0 && !signal.aborted; left--) {
    position = await runBatch(deps, position);
    if (position.at === 'rest') return { kind: 'reschedule', at: later(clock, NEXT_PASS_MS) };
    await nextTurn();
  }
  return { kind: 'reschedule', at: later(clock, busy ? BUSY_PAUSE_MS : PAUSE_MS) };
}

function later(clock: Clock, ms: number): Date {
  return new Date(clock.now().getTime() + ms);
}

/** Whether any other job is due or running. */
async function isBusy({ storage, clock }: RetentionDeps): Promise<boolean> {
  return (await storage.read.jobs.countDue(clock.now())) > 1;
}

async function runBatch(deps: RetentionDeps, position: Working): Promise<Position> {
  const step = STEPS[position.step];
  if (!step) return freeDiskSpace(deps, position);
  const { storage, clock } = deps;
  const { kind, period } = step;
  const done: Working = { ...position, step: position.step + 1, after: null };
  const kept = period === 'replays' ? replaysMs(deps.periods) : deps.periods[period];
  if (kept === null) return done;
  const before = new Date(Date.parse(position.begun) - kept);
  const limit = BATCH[kind];
  const { ids, next } = await storage.read.pruning.page(kind, { after: position.after, before, limit });
  if (kind === 'runs') await readUnknownPullRequests(deps, ids, before);
  const reached = await storage.transaction(async (tx): Promise<Working> => {
    const count = await tx.pruning.remove(kind, ids, before);
    const deleted = count === 0 ? position.deleted : added(position.deleted, kind, count);
    const reached = next === null ? { ...done, deleted } : { ...position, deleted, after: next };
    await tx.cursors.set(CURSOR, reached, clock.now());
    return reached;
  });
  await deleteBlobs(deps);
  return reached;
}

/**
 * How long an event can come again: GitHub redelivers for three days, and an operator replays a delivery as long as its
 * body is kept. A week more, because a delivery can wait for the app.
 */
function replaysMs({ runs, bodies }: RetentionPeriods): number | null {
  return runs === null || bodies === null ? null : Math.max(runs, bodies) + 7 * 24 * 3_600_000;
}

function added(deleted: Working['deleted'], kind: PrunedKind, count: number): Working['deleted'] {
  return { ...deleted, [kind]: (deleted[kind] ?? 0) + count };
}

/**
 * The rows go first and leave the paths of their blobs in a table, then the blobs go. The other order could
 * leave rows without their blobs after a crash.
 */
async function deleteBlobs({ storage, blobs }: RetentionDeps): Promise<void> {
  for (;;) {
    const paths = await storage.read.pruning.blobsToDelete(BLOBS_A_BATCH);
    if (paths.length === 0) return;
    const rest = paths.values();
    const worker = async () => {
      for (const path of rest) await blobs.delete(path);
    };
    await Promise.all(Array.from({ length: BLOBS_AT_ONCE }, worker));
    await storage.transaction((tx) => tx.pruning.forgetBlobs(paths));
  }
}

/**
 * Asks GitHub whether old pull requests of unknown state are open: those from before the state was stored,
 * and those whose repository vanished without a webhook. If GitHub does not answer, the state stays unknown
 * and the runs are kept.
 */
async function readUnknownPullRequests(
  deps: RetentionDeps,
  runIds: readonly PrunedId[],
  before: Date,
): Promise<void> {
  const { storage, clock } = deps;
  for (const place of await storage.read.pruning.unknownPullRequests(runIds, before)) {
    const state = await stateOf(deps, place);
    if (state === undefined) continue;
    await storage.transaction((tx) => tx.pullRequests.sawState(place, state.is, state.since ?? clock.now()));
  }
}

async function stateOf(
  { github, log }: RetentionDeps,
  { repository, number, installationId }: PullRequestPlace,
): Promise<{ is: PullRequestState; since?: Date } | undefined> {
  const [owner = '', name = ''] = repository.split('/');
  try {
    const found = await github.reader(installationId, 'background').pullRequest({ owner, name }, number);
    if (found.merged) return { is: 'merged', since: found.updatedAt };
    return found.state === 'closed' ? { is: 'closed', since: found.updatedAt } : { is: 'open' };
  } catch (error) {
    // GitHub's rate limit names the time at which it ends, and the whole pass waits until then.
    if (!(error instanceof GitHubError) || error.retryAt) throw error;
    if (error.kind === 'not_found') return { is: 'gone' };
    log.debug(
      { repository, pull_request: number, err: messageOf(error) },
      'a pull request could not be asked about; its runs are kept',
    );
    return undefined;
  }
}

async function freeDiskSpace({ storage, clock, log }: RetentionDeps, position: Working): Promise<Position> {
  if (await storage.giveBack(PAGES_A_BATCH)) return position;
  const { begun, deleted } = position;
  const rest: Position = { at: 'rest', since: clock.now().toISOString() };
  await storage.transaction(async (tx) => {
    if (Object.keys(deleted).length > 0) {
      await tx.audit.record({ kind: 'retention.pass', ...aboutNothing({ kind: 'app' }), deleted });
    }
    await tx.insight.forget(new Date(clock.now().getTime() - FIGURES_MS));
    await tx.cursors.set(CURSOR, rest, clock.now());
  });
  log.info({ begun, deleted }, 'retention has deleted what is over for long');
  return rest;
}
