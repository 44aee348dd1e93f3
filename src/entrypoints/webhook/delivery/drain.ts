import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { Queue } from '../../../ports/queue.ts';
import type { Inbox, Storage } from '../../../ports/storage.ts';
import { recordWithJobs } from './new-jobs.ts';

/** Commits of the inbox that one transaction takes over. Each has the deliveries of one moment. */
const MAX_COMMITS = 32;

/** How long to wait after a failure, in milliseconds. */
const RETRY_MS = 1_000;

export interface Drain {
  /** Takes over everything that is in the inbox. Rejects if the database fails; nothing is lost then. */
  drain(): Promise<void>;
  /** Does the same in the background, and again until it succeeds. */
  wake(): void;
  /** Resolves when nothing is being taken over, and takes no more. */
  stop(): Promise<void>;
}

/**
 * Moves deliveries from the inbox to the database, in the order in which they arrived. The database keeps how
 * far it got in the same transaction, so each is moved once, whenever the process dies.
 */
export function createDrain(deps: {
  inbox: Inbox;
  storage: Pick<Storage, 'transaction' | 'read'>;
  queue: Pick<Queue, 'enqueue' | 'hasRoomFor' | 'wake'>;
  /** Called after each commit, with the number up to which the inbox may forget. */
  onTaken(last: number): void;
  clock: Clock;
  log: Log;
}): Drain {
  const { inbox, storage, queue, onTaken, clock, log } = deps;
  const cursor = cursorOf(inbox);
  let last: number | undefined;
  let woken = false;
  let stopped = false;
  let working: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function drain(): Promise<void> {
    last ??= await takenFrom(inbox, storage);
    for (;;) {
      const commits = inbox.after(last, MAX_COMMITS);
      const reached = commits.at(-1)?.id;
      if (reached === undefined || stopped) return;
      for (const { id, damaged } of commits) {
        if (damaged)
          log.error(
            { commit: id, deliveries: damaged.guids, err: damaged.err },
            'accepted deliveries are damaged and cannot be read: redeliver them in the settings of the GitHub App',
          );
      }
      const areWaiting = await storage.transaction(async (tx) => {
        const deliveries = commits.flatMap((commit) => commit.deliveries);
        const taken = await recordWithJobs(tx, queue, deliveries);
        await tx.cursors.set(cursor, reached, clock.now());
        return taken.areWaiting;
      });
      last = reached;
      onTaken(reached);
      if (areWaiting) queue.wake();
    }
  }

  async function drainWhileWoken(): Promise<void> {
    while (woken && !stopped) {
      woken = false;
      try {
        await drain();
      } catch (err) {
        log.error({ err }, 'accepted deliveries could not be taken over; they are kept, and tried again');
        timer = setTimeout(wake, RETRY_MS);
      }
    }
    working = undefined;
  }

  function wake(): void {
    woken = true;
    working ??= drainWhileWoken();
  }

  return {
    drain,
    wake,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await working;
      inbox.close();
    },
  };
}

/** The number up to which the database has everything from an inbox. */
export async function takenFrom(inbox: Pick<Inbox, 'id'>, { read }: Pick<Storage, 'read'>): Promise<number> {
  return z.int().parse((await read.cursors.get(cursorOf(inbox))) ?? 0);
}

function cursorOf({ id }: Pick<Inbox, 'id'>): string {
  return `inbox:${id}`;
}
