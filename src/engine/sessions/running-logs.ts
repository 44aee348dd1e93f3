import type { Clock, Timers } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Storage } from '../../ports/storage.ts';
import { PrintedLines } from './printed-lines.ts';

/** A step that ends before costs nothing. */
const FIRST_MS = 1_500;
const EVERY_MS = 1_000;

/** Stores what one attempt at a step prints while it runs. */
export interface RunningLog {
  add(part: string | Uint8Array): void;
  /** Call it before the attempt's result is recorded. What is not stored yet is only in its whole log. */
  end(): void;
}

/** Stores what steps print while they run, so that people can follow them. A failure to do so is none of the step. */
export function createRunningLogs({
  storage,
  clock,
  timers,
  log,
}: {
  storage: Pick<Storage, 'transaction'>;
  clock: Clock;
  timers: Pick<Timers, 'elapsedMs' | 'after'>;
  log: Log;
}): (session: { runId: string; sessionId: string }) => RunningLog {
  return (session) => {
    const begunAt = clock.now();
    const lines = new PrintedLines();
    let due = timers.elapsedMs() + FIRST_MS;
    let state: 'idle' | 'planned' | 'writing' | 'over' = 'idle';
    let cancel = () => {};
    let isFirst = true;
    let isNew = false;
    let unsaved = '';

    function plan(): void {
      if (state !== 'idle') return;
      state = 'planned';
      cancel = timers.after(Math.max(0, due - timers.elapsedMs()), () => void write());
    }

    async function write(): Promise<void> {
      state = 'writing';
      isNew = false;
      unsaved += lines.take();
      if (unsaved !== '') await save(unsaved);
      due = timers.elapsedMs() + EVERY_MS;
      if (state === 'writing') state = 'idle';
      if (isNew || unsaved !== '') plan();
    }

    async function save(text: string): Promise<void> {
      try {
        await storage.transaction((tx) => tx.sessionLogs.append({ ...session, begunAt, text, isFirst }), {
          waitsFor: 'others',
        });
        isFirst = false;
        unsaved = '';
      } catch (error) {
        log.debug(
          { session: session.sessionId, err: messageOf(error) },
          'lines of a step could not be stored',
        );
      }
    }

    return {
      add(part) {
        lines.add(part);
        isNew = true;
        plan();
      },
      end() {
        state = 'over';
        cancel();
      },
    };
  };
}
