const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of `90s`, `30m`, `2h` or `7d`. `undefined` for any other text and for zero. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,6})(s|m|h|d)$/.exec(text);
  if (!match) return undefined;
  const ms = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
  return ms > 0 ? ms : undefined;
}

/** A duration for people: `850 ms`, `4.2 s`, `3 min`, `2 h 5 min`, `3 d`. It is rounded first, so that no part is as long as the next unit. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${tenths / 10} s`;
  const minutes = Math.round(ms / UNITS.m);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) {
    const rest = minutes % 60;
    return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
  }
  return `${Math.round(ms / UNITS.d)} d`;
}
