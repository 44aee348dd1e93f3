import type { BudgetFigures, Urgency } from '../../ports/github.ts';

/**
 * One installation's share of GitHub's limits. It knows only what answers told, so it never refuses by guessing: before the
 * first answer, and once the hour is over, everything may be sent. Limits:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
export interface Budget {
  /**
   * When a request may be sent, if not now.
   * @param request `mayBeFree`: it asks whether a known answer is still so, and GitHub does not count it if it is.
   */
  refusedUntil(
    request: { urgency: Urgency; mayBeFree: boolean; inFlight: number },
    now: Date,
  ): Date | undefined;
  /** Learns from the `x-ratelimit-*` headers of an answer. */
  answered(headers: Headers): void;
  /** GitHub asked for a break: nothing is sent before then, whoever asks. */
  hold(until: Date): void;
  heldUntil(now: Date): Date | undefined;
  figures(now: Date): BudgetFigures | undefined;
}

/** The part of the hour's requests that is kept for what is more urgent. */
const KEPT: Readonly<Record<Urgency, number>> = { person: 0, run: 0.05, background: 0.2 };

/** Clocks differ: a moment that GitHub names may be past here, and then asking again at once would be a loop. */
const SOONEST_MS = 1_000;

export function createBudget(): Budget {
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
      // What is known and unchanged costs nothing, and what has changed is worth its one request.
      const kept = mayBeFree ? 0 : Math.floor(hour.limit * KEPT[urgency]);
      // Each request under way may cost one that GitHub has not counted yet.
      if (hour.remaining - inFlight > kept) return undefined;
      // The last of a refusal's reasons may be only what is under way: then there is room again when that is answered.
      const spent = hour.remaining <= kept;
      return spent
        ? new Date(Math.max(hour.resetAt.getTime(), now.getTime() + SOONEST_MS))
        : new Date(now.getTime() + SOONEST_MS);
    },
    answered(headers) {
      const told = toldBy(headers);
      if (!told) return;
      // Answers overtake each other: within an hour what remains only gets less, and an older hour says nothing.
      if (!known || told.resetAt > known.resetAt) known = told;
      else if (told.resetAt.getTime() === known.resetAt.getTime() && told.remaining < known.remaining) {
        known = told;
      }
    },
    hold(until) {
      held = Math.max(held, until.getTime());
    },
  };
}

/**
 * Searches and GraphQL have budgets of their own. This app asks one question in GraphQL, seldom, so that one is not counted:
 * should it be spent, GitHub says so, and the question waits until the time that comes with it.
 */
function toldBy(headers: Headers): BudgetFigures | undefined {
  if ((headers.get('x-ratelimit-resource') ?? 'core') !== 'core') return undefined;
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`x-ratelimit-${name}`);
    return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAt: new Date(reset * 1_000) };
}
