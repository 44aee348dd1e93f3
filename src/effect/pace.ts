/**
 * How fast one installation may create content: GitHub publishes 80 a minute and 500 an hour. Bursts inside that are
 * allowed (a fixed gap between writes makes every merge wait); beyond it a write waits until the window has room.
 */
export interface Pace {
  /** Takes a place and answers `undefined`, or says when there will be one. */
  take(installationId: number, now: Date): Date | undefined;
  /** GitHub asked for a break: there is no place before then, whoever asks and however often. */
  hold(installationId: number, until: Date): void;
}

/** A little below what is published, since other writes of the same app count too. */
const WINDOWS = [
  { ms: 60_000, writes: 70 },
  { ms: 3_600_000, writes: 450 },
];

export function createPace(): Pace {
  const taken = new Map<number, number[]>();
  const held = new Map<number, number>();
  return {
    take(installationId, now) {
      const at = now.getTime();
      const heldUntil = held.get(installationId) ?? 0;
      if (heldUntil > at) return new Date(heldUntil);
      const times = (taken.get(installationId) ?? []).filter((time) => time > at - 3_600_000);
      taken.set(installationId, times);
      const rooms = WINDOWS.flatMap(({ ms, writes }) => {
        const inside = times.filter((time) => time > at - ms);
        const blocking = inside[inside.length - writes];
        return blocking === undefined ? [] : [blocking + ms];
      });
      if (rooms.length > 0) return new Date(Math.max(...rooms));
      times.push(at);
      return undefined;
    },
    hold(installationId, until) {
      held.set(installationId, Math.max(until.getTime(), held.get(installationId) ?? 0));
    },
  };
}
