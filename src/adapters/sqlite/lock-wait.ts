import type { Timers } from '../../core/clock.ts';
import { StorageLocked } from '../../ports/locked.ts';

/**
 * How long SQLite itself waits for another process's lock, in milliseconds. The whole process is blocked
 * meanwhile. Long enough for the short transactions of the command line, so that they cost no turn of the
 * event loop.
 */
export const BUSY_TIMEOUT_MS = 25;

/**
 * How long work waits for another process's lock in total, in milliseconds. Where the intake
 * shares the database, a webhook waits for the group before its own and for its own, so twice this must be less
 * than the ten seconds after which GitHub stops waiting.
 */
export const LOCK_WAIT_MS = 3_500;

/**
 * Between two attempts. The first is about as long as one of our transactions, the longest is a quarter of a
 * second.
 */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Waits for another process's lock on the file while the event loop continues; one per connection. SQLite's
 * own waiting (`busy_timeout`) blocks the whole process: with its former five seconds, a lock of twenty
 * seconds blocked the app for fifteen of them, including probes and GitHub's responses.
 */
export interface LockWait {
  /**
   * Repeats work, which must change nothing if it finds the file locked, until it succeeds or the time is
   * over.
   * @param exhaustedAt by `elapsedMs`; default: `LOCK_WAIT_MS` after the file was first found locked
   * @throws StorageLocked if the file is still locked at that time
   */
  outlast<T>(work: () => Promise<T>, exhaustedAt?: number): Promise<T>;
  /** The error of the work that is currently waiting, if any. */
  locked(): StorageLocked | undefined;
  /** When work that starts now must stop waiting. */
  deadline(): number;
}

export function createLockWait(timers: Timers): LockWait {
  let firstFound: { error: StorageLocked; at: number } | undefined;
  let waiting = 0;

  async function wait(ms: number): Promise<void> {
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
          firstFound = undefined;
          return result;
        } catch (error) {
          if (!(error instanceof StorageLocked)) throw error;
          firstFound = { error, at: firstFound?.at ?? timers.elapsedMs() };
          if (timers.elapsedMs() >= (exhaustedAt ?? firstFound.at + LOCK_WAIT_MS)) throw error;
          await wait(pause);
        }
      }
    },
    locked: () => (waiting > 0 ? firstFound?.error : undefined),
    deadline: () => timers.elapsedMs() + LOCK_WAIT_MS,
  };
}
