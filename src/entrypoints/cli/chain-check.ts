import { timeSortedIds } from '../../core/ids.ts';
import { type Evaluated, evaluateSchedules } from '../../engine/runs/schedules.ts';
import { checked, daemonStopped, scheduleTable } from '../../messages/cli/schedules.ts';
import { StorageLocked } from '../../ports/locked.ts';
import type { Storage } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

/** How many schedules one transaction evaluates. */
const BATCH = 100;
/** How often a daemon evaluates the schedules, in milliseconds. */
const DAEMON_MS = 30_000;
/** How many rows of each table are shown. */
const MAX_SHOWN = 50;

/** Evaluates all schedules and fires what is due; for cron of the system, beside or instead of the app's own clock. */
export function chainCheck(context: Context, { database }: DatabaseOption): Promise<Output> {
  const { clock, tools } = context;
  return tools.withDatabase(database, 'write', async (storage) => {
    const { evaluated, firings } = await evaluateAll(context, storage);
    const next = await storage.read.schedules.nextAt();
    return {
      text: checked(evaluated, firings, next, clock.now()),
      json: {
        evaluated,
        next_at: next?.toISOString() ?? null,
        firings: firings.map(firingJson),
      },
    };
  });
}

/** Does so every 30 seconds, until the process receives a signal to stop; what it has begun is committed first. */
export function chainDaemon(context: Context, { database }: DatabaseOption): Promise<Output> {
  const { clock, tools, write } = context;
  const stop = tools.stopRequested();
  return tools.withDatabase(database, 'write', async (storage) => {
    let fired = 0;
    for (let isFirst = true; !stop.aborted; isFirst = false) {
      try {
        const { evaluated, firings } = await evaluateAll(context, storage, stop);
        const next = await storage.read.schedules.nextAt();
        fired += firings.length;
        if (isFirst || firings.length > 0) await write(`${checked(evaluated, firings, next, clock.now())}\n`);
      } catch (error) {
        // The app may be writing for long. What is due stays due.
        if (!(error instanceof StorageLocked)) throw error;
        await write(`${error.message}\n`);
      }
      await tools.pause(DAEMON_MS, stop);
    }
    return { text: daemonStopped(fired), json: { firings: fired } };
  });
}

/** When chains fire next, and what became of the newest firings. */
export function chainSchedules({ tools }: Context, { database }: DatabaseOption): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const [rows, firings] = await Promise.all([
      read.schedules.upcoming(MAX_SHOWN),
      read.firings.list({ limit: MAX_SHOWN }),
    ]);
    return {
      text: (screen) => scheduleTable(rows, firings, screen),
      json: {
        schedules: rows.map(({ chain, repository, trigger, nextAt }) => ({
          chain,
          repository,
          schedule: trigger,
          next_at: nextAt.toISOString(),
        })),
        firings: firings.map(firingJson),
      },
    };
  });
}

async function evaluateAll(
  { clock, tools }: Context,
  storage: Storage,
  stop?: AbortSignal,
): Promise<Evaluated> {
  const queue = await tools.enqueuer(storage);
  const deps = { storage, queue, clock, ids: timeSortedIds(() => clock.now()) };
  const all: Evaluated = { evaluated: 0, firings: [], isMore: false };
  for (;;) {
    const { evaluated, firings, isMore } = await evaluateSchedules(deps, BATCH);
    all.evaluated += evaluated;
    all.firings.push(...firings);
    if (!isMore || stop?.aborted) return all;
  }
}

function firingJson(firing: Evaluated['firings'][number]) {
  const { id, chain, repository, trigger, status, reason, summary, count, runId, dueAt } = firing;
  return {
    id,
    chain,
    repository,
    schedule: trigger,
    status,
    reason,
    summary,
    count,
    run_id: status === 'skipped' ? null : runId,
    due_at: dueAt.toISOString(),
  };
}
