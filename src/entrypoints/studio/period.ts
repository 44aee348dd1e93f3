import { PERIODS } from '../../messages/studio/insight.ts';

const DAY_MS = 86_400_000;

/** What was read of a period counts for a minute, because a busy period has many rows (ADR 75). The pages say so. */
export const FIGURES_COUNT = { forMs: 60_000, failedForMs: 0 } as const;

/** The period that a page with figures shows: so many days, today among them. */
export function periodOf(
  asked: string | undefined,
  now: Date,
): { days: (typeof PERIODS)[number]; since: Date } {
  const days = PERIODS.find((one) => String(one) === asked) ?? 30;
  return { days, since: new Date(now.getTime() - (days - 1) * DAY_MS) };
}
