import type { BudgetFigures, Urgency } from '../../ports/github.ts';

/**
 * One installation's hourly limit. It uses only figures that GitHub reported, so it never refuses on a guess:
 * before the first response, and after the hour is over, every request may be sent. Limits:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
export interface Budget {
  /**
   * When a request may be sent; `undefined` for now.
   * @param request `mayBeFree`: a conditional request, which GitHub does not count if nothing changed
   */
  refusedUntil(
    request: { urgency: Urgency; mayBeFree: boolean; inFlight: number },
    now: Date,
  ): Date | undefined;
  /** Learns from the `x-ratelimit-*` headers of a response. */
  answered(headers: Headers): void;
  /** GitHub asked for a pause. Until then, no request is sent, however urgent. */
  hold(until: Date): void;
  heldUntil(now: Date): Date | undefined;
  figures(now: Date): BudgetFigures | undefined;
}

/** The share of the hour's requests that is reserved for more urgent ones. */
const RESERVED: Readonly<Record<Urgency, number>> = { person: 0, run: 0.05, background: 0.2 };

/**
 * Clocks differ, so a time from GitHub may already be past here. Retrying immediately could then become a
 * loop.
 */
const SOONEST_MS = 1_000;

/** @param resource the limit that it tracks, as GitHub names it. GraphQL's counts points instead of requests. */
export function createBudget(resource: 'core' | 'graphql' = 'core'): Budget {
  let known: BudgetFigures | undefined;
  let held = 0;

  const heldUntil = (now: Date) => (held > now.getTime() ? new Date(held) : undefined);
  const figures = (now: Date) => (known && known.resetAt > now ? known : undefined);

  return {
    heldUntil,
    figures,
    refusedUntil({ urgency, mayBeFree, inFlight }, now) {
      const until = heldUntil(now);
      if (until) return until;
      const hour = figures(now);
      if (!hour) return undefined;
      // An unchanged response costs nothing, and a changed one is worth its request.
      const reserved = mayBeFree ? 0 : Math.floor(hour.limit * RESERVED[urgency]);
      // Each request in progress may cost one that GitHub has not counted yet.
      if (hour.remaining - inFlight > reserved) return undefined;
      // If only requests in progress exhaust the limit, there may be room when they are answered.
      const spent = hour.remaining <= reserved;
      return spent
        ? new Date(Math.max(hour.resetAt.getTime(), now.getTime() + SOONEST_MS))
        : new Date(now.getTime() + SOONEST_MS);
    },
    answered(headers) {
      const reported = figuresIn(headers, resource);
      if (!reported) return;
      // Responses can arrive out of order. Within an hour, the remainder only decreases; figures of an older
      // hour are ignored.
      if (!known || reported.resetAt > known.resetAt) known = reported;
      else if (
        reported.resetAt.getTime() === known.resetAt.getTime() &&
        reported.remaining < known.remaining
      ) {
        known = reported;
      }
    },
    hold(until) {
      held = Math.max(held, until.getTime());
    },
  };
}

/** The figures in a response's headers. Searches and GraphQL have separate limits. */
function figuresIn(headers: Headers, resource: string): BudgetFigures | undefined {
  if ((headers.get('x-ratelimit-resource') ?? 'core') !== resource) return undefined;
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`x-ratelimit-${name}`);
    return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAt: new Date(reset * 1_000) };
}
