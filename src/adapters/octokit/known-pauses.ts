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

/** @param id `undefined` for the app itself, whose pauses end with the process: each process asks little for it */
export function createKnownPauses(
  id: number | undefined,
  budget: Budget,
  { memory, log }: { memory: LimitMemory | undefined; log: Log },
): KnownPauses {
  let recalling: Promise<void> | undefined;

  async function recall(): Promise<void> {
    if (id === undefined) return;
    try {
      const known = await memory?.recall(id);
      if (known) budget.hold(known.pauseUntil);
    } catch (err) {
      log.error({ err }, 'it could not be read whether GitHub asked for a pause before; its answers show it');
    }
  }

  return {
    async recalled() {
      recalling ??= recall();
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
