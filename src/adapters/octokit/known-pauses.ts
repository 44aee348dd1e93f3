import type { Log } from '../../core/log.ts';
import type { LimitMemory } from '../../ports/github.ts';
import type { Budget } from './budget.ts';

/** The pauses that GitHub asked of one installation, also of earlier processes. */
export interface KnownPauses {
  /** Resolves when the budget goes by a pause that was asked of an earlier process. */
  recalled(): Promise<void>;
  /** GitHub asked for a pause. Resolves when the next process knows of it, too. */
  hold(until: Date, refused: { ofWrite: boolean }): Promise<void>;
  /** Another process may have been asked for one meanwhile. */
  forget(): void;
}

interface Options {
  memory: LimitMemory | undefined;
  /** Others ask for the installation at the same time, so each request recalls what they were asked for. */
  isShared: boolean;
  log: Log;
}

/** @param id `undefined` for the app itself, whose pauses end with the process: each process asks little for it */
export function createKnownPauses(
  id: number | undefined,
  budget: Budget,
  { memory, isShared, log }: Options,
): KnownPauses {
  let recalling: Promise<void> | undefined;

  /** @returns whether what is known now lasts */
  async function recall(): Promise<boolean> {
    if (id === undefined) return true;
    try {
      const known = await memory?.recall(id);
      if (known) budget.hold(known.pauseUntil);
      return !isShared;
    } catch (err) {
      log.error({ err }, 'it could not be read whether GitHub asked for a pause before; its answers show it');
      return false;
    }
  }

  return {
    async recalled() {
      if (!recalling) {
        const asked: Promise<void> = recall().then((lasts) => {
          // The next request recalls again.
          if (!lasts && recalling === asked) recalling = undefined;
        });
        recalling = asked;
      }
      await recalling;
    },
    async hold(until, { ofWrite }) {
      budget.hold(until);
      if (id === undefined) return;
      try {
        await memory?.note(id, { pauseUntil: until, ofWrite });
      } catch (err) {
        log.error({ err }, 'a pause that GitHub asked for could not be recorded; it ends with this process');
      }
    },
    forget() {
      recalling = undefined;
    },
  };
}
