import { type SentWrite, type WaitingWrite, type Window, type Write, whenMayGo } from './fair-share.ts';

/**
 * Limits how fast one installation creates content: GitHub publishes 80 per minute and 500 per hour. Bursts
 * below that are allowed, because a fixed gap between writes would delay every merge. Beyond it, a write
 * waits until the window has capacity. `fair-share.ts` decides the order.
 */
export interface WriteLimiter {
  /**
   * Takes capacity and returns `undefined`, or returns when to ask again.
   * @param options.atOnce does not wait for other writes, only for a pause that GitHub asked for
   */
  take(installationId: number, write: Write, now: Date, options?: { atOnce?: boolean }): Date | undefined;
  /** GitHub asked for a pause: no capacity before this time for anything. */
  hold(installationId: number, until: Date): void;
}

/** Slightly below GitHub's limits, because other writes of the app also count. */
const WINDOWS: readonly Window[] = [
  { ms: 60_000, writes: 70 },
  { ms: 3_600_000, writes: 450 },
];
const LONGEST_MS = Math.max(...WINDOWS.map(({ ms }) => ms));
/** A write that was not seen for this long, in milliseconds, no longer waits. */
const FORGOTTEN_MS = 60_000;

interface Installation {
  sent: SentWrite[];
  waiting: Map<string, WaitingWrite>;
  heldUntil: number;
}

export function createWriteLimiter(): WriteLimiter {
  const installations = new Map<number, Installation>();

  function of(installationId: number): Installation {
    const known = installations.get(installationId) ?? { sent: [], waiting: new Map(), heldUntil: 0 };
    installations.set(installationId, known);
    return known;
  }

  return {
    take(installationId, write, time, { atOnce = false } = {}) {
      const one = of(installationId);
      const now = time.getTime();
      if (one.heldUntil > now) return new Date(one.heldUntil);
      one.sent = one.sent.filter(({ at }) => at > now - LONGEST_MS);
      for (const { key, until } of one.waiting.values()) {
        if (until < now - FORGOTTEN_MS) one.waiting.delete(key);
      }
      const waiting = [...one.waiting.values()];
      const at = atOnce ? now : whenMayGo(write, { sent: one.sent, waiting, windows: WINDOWS, now });
      if (at > now) {
        one.waiting.set(write.key, { ...write, until: at });
        return new Date(at);
      }
      one.waiting.delete(write.key);
      one.sent.push({ ...write, at: now });
      return undefined;
    },
    hold(installationId, until) {
      const one = of(installationId);
      one.heldUntil = Math.max(until.getTime(), one.heldUntil);
    },
  };
}
