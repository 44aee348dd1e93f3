import { type SentWrite, type WaitingWrite, type Window, type Write, whenMayGo } from './fair-share.ts';

/**
 * How fast one installation may create content: GitHub publishes 80 a minute and 500 an hour. Bursts inside that are
 * allowed (a fixed gap between writes makes every merge wait); beyond it a write waits until the window has room. Who may write
 * before whom is shared out fairly (`fair-share.ts`).
 */
export interface WriteLimiter {
  /**
   * Takes a place and answers `undefined`, or says when to ask again.
   * @param options.atOnce it must not wait for others, only for a break that GitHub asked for
   */
  take(installationId: number, write: Write, now: Date, options?: { atOnce?: boolean }): Date | undefined;
  /** GitHub asked for a break: there is no place before then, whoever asks and however often. */
  hold(installationId: number, until: Date): void;
}

/** A little below what is published, since other writes of the same app count too. */
const WINDOWS: readonly Window[] = [
  { ms: 60_000, writes: 70 },
  { ms: 3_600_000, writes: 450 },
];
const LONGEST_MS = Math.max(...WINDOWS.map(({ ms }) => ms));
/** Whoever was not seen for so long, in milliseconds, does not wait any more. */
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
