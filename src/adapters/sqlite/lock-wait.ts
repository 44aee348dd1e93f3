import type { Timers } from '../../core/clock.ts';
import { StorageLocked } from '../../ports/locked.ts';

/**
 * How long a statement stands still for another process's write, in milliseconds; nothing else of this process happens meanwhile.
 * Long enough for the short transactions of the command line, so that those cost no turn of the event loop.
 */
export const STAND_STILL_MS = 25;

/**
 * How long work waits for the lock of another process in all, in milliseconds. A webhook waits for the group before its own and
 * then for its own, so twice this must be less than the ten seconds after which GitHub gives up.
 */
export const LOCK_WAIT_MS = 3_500;

/** Between two tries: the first is about as long as a transaction of ours, the last is a quarter of a second. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Waits for the lock that another process holds on the file, while the event loop turns; one for each connection. SQLite's own waiting (`busy_timeout`) stops
 * the whole process: with the five seconds that it had, a lock of twenty seconds froze the app for fifteen of them, probes and
 * answers of GitHub included.
 */
export interface LockWait {
  /**
   * Carries out work that has done nothing if it finds the file locked, as often as it takes.
   * @param exhaustedAt by `elapsedMs`; when left out, as long after the lock was first met.
   * @throws StorageLocked when it is locked still by then.
   */
  outlast<T>(work: () => Promise<T>, exhaustedAt?: number): Promise<T>;
  /** What those that wait at this moment found. */
  locked(): StorageLocked | undefined;
  /** When to give up what is asked for now. */
  deadline(): number;
}

export function createLockWait(timers: Timers): LockWait {
  let met: { error: StorageLocked; at: number } | undefined;
  let waiting = 0;

  async function pauseFor(ms: number): Promise<void> {
    waiting += 1;
    try {
      await timers.sleep(ms);
    } finally {
      waiting -= 1;
    }
  }

  return {
    async outlast(work, exhaustedAt) {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          const result = await work();
          met = undefined;
          return result;
        } catch (error) {
          if (!(error instanceof StorageLocked)) throw error;
          met = { error, at: met?.at ?? timers.elapsedMs() };
          if (timers.elapsedMs() >= (exhaustedAt ?? met.at + LOCK_WAIT_MS)) throw error;
          await pauseFor(pause);
        }
      }
    },
    locked: () => (waiting > 0 ? met?.error : undefined),
    deadline: () => timers.elapsedMs() + LOCK_WAIT_MS,
  };
}
