import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { JobRunner, NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { RunPosition, Storage } from '../../ports/storage.ts';

/** How long a body stays as it was recorded, in milliseconds: it is read when its delivery is processed. */
const REST_MS = 600_000;
/** From one pass to the next, and between two turns of a pass. */
const NEXT_PASS_MS = 3_600_000;
const PAUSE_MS = 1_000;
/** Packs of at most two megabytes in one turn. */
const PACKS_A_TURN = 8;
/** Runs in one transaction, which others wait for: each takes about 4 ms. */
const RUNS_AT_ONCE = 3;

/** How long the reply to a command that somebody gave in Studio is kept. */
const COMMANDS_MS = 24 * 3_600_000;
/** Nobody sees a dry run any more that began so long ago, in milliseconds. */
const DRY_RUNS_MS = 3_600_000;

/** Runs that are examined at once. */
const RUNS_A_PAGE = 200;

const CURSOR = 'packed_bodies';

/**
 * Packs the bodies of deliveries together, some time after they were processed. GitHub sends about twenty
 * deliveries for one pull request, mostly one at a time and with mostly the same text: together, they take a
 * tenth of the space (docs/adr/0037). It also packs the large texts of runs that ended, and archives runs whose pull request is
 * closed (docs/adr/0039), and deletes sign-ins to Studio that expired, and old dry runs.
 */
export function bodyJobs(deps: {
  storage: Storage;
  queue: Pick<Queue, 'enqueue'>;
  clock: Clock;
  log: Log;
}): JobRunner<'bodies'> {
  const { storage, queue, clock, log } = deps;
  const later = (ms: number) => new Date(clock.now().getTime() + ms);
  /** Returns whether there are more. */
  async function archiveRuns(signal: AbortSignal): Promise<boolean> {
    const before = later(-REST_MS);
    let left = PACKS_A_TURN;
    for (let after: RunPosition | undefined; !signal.aborted; ) {
      const { ids, next } = await storage.read.runs.archivable({ after, before, limit: RUNS_A_PAGE });
      for (; ids.length > 0 && left > 0 && !signal.aborted; left--) {
        const some = ids.splice(0, RUNS_AT_ONCE);
        await storage.transaction((tx) => tx.runs.archive(some, before));
        await nextTurn();
      }
      if (ids.length > 0) return true;
      if (!next) return false;
      after = next;
    }
    return true;
  }

  /** Returns whether there are more. */
  async function archiveDeliveries(signal: AbortSignal): Promise<boolean> {
    for (let left = PACKS_A_TURN; left > 0 && !signal.aborted; left--) {
      const more = await storage.transaction((tx) => tx.deliveries.archive(later(-REST_MS), clock.now()));
      if (!more) return false;
      await nextTurn();
    }
    return true;
  }

  /** A sign-in holds encrypted tokens of a person, which must not outlive it, also if nobody signs in any more. */
  function forgetStudio(): Promise<void> {
    return storage.transaction(async (tx) => {
      await tx.studioSessions.removeExpired(clock.now());
      await tx.studioCommands.removeBefore(later(-COMMANDS_MS));
      await tx.dryRuns.removeBefore(later(-DRY_RUNS_MS));
    });
  }

  return {
    async run(_, signal) {
      let more = true;
      let moreRuns = true;
      const moreToArchive = await archiveRuns(signal);
      for (let left = PACKS_A_TURN; moreRuns && left > 0 && !signal.aborted; left--) {
        moreRuns =
          (await storage.transaction((tx) => tx.runs.packEnded(later(-REST_MS), RUNS_AT_ONCE))) ===
          RUNS_AT_ONCE;
        await nextTurn();
      }
      for (let left = PACKS_A_TURN; more && left > 0 && !signal.aborted; left--) {
        more = await storage.transaction(async (tx) => {
          const after = z.int().parse((await tx.cursors.get(CURSOR)) ?? 0);
          const packed = await tx.deliveries.packTogether(after, later(-REST_MS));
          if (packed.last !== after) await tx.cursors.set(CURSOR, packed.last, clock.now());
          for (const { id, err } of packed.damaged) {
            log.error({ pack: id, err }, 'a pack of bodies of deliveries is damaged, and stays as it is');
          }
          return packed.more && packed.last !== after;
        });
        await nextTurn();
      }
      const moreDeliveries = await archiveDeliveries(signal);
      await forgetStudio();
      return {
        kind: 'reschedule',
        at: later(moreDeliveries || more || moreRuns || moreToArchive ? PAUSE_MS : NEXT_PASS_MS),
      };
    },
    async onRetriesExhausted(_, err) {
      log.error({ job: 'bodies', err }, 'gave up on packing bodies of deliveries; tried again later');
      await storage.transaction((tx) => queue.enqueue(tx, bodyJob(clock.now())));
    },
  };
}

/** The first job. It then reschedules itself. */
export function bodyJob(now: Date): NewJob {
  const runAt = new Date(now.getTime() + NEXT_PASS_MS);
  return { kind: 'bodies', installationId: null, key: 'bodies', payload: {}, runAt, coalesce: true };
}
