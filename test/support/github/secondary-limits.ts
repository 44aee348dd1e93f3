import type { Caller } from './auth.ts';
import type { Reply } from './router.ts';

/*
 * GitHub's published secondary limits, for each installation:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const POINTS_A_MINUTE = { rest: 900, graphql: 2_000 };
const CONTENT = [
  { ms: MINUTE_MS, count: 80 },
  { ms: HOUR_MS, count: 500 },
];

/**
 * The app's requests that create content. GitHub's description marks what it warns about with `triggersNotification`, as "Creating
 * content too quickly using this endpoint may result in secondary rate limiting"
 * (https://docs.github.com/en/rest/issues/comments#create-an-issue-comment). Updates and check runs are not among them.
 */
const CREATES_CONTENT =
  /^POST \/repos\/[^/]+\/[^/]+\/(issues|issues\/\d+\/comments|pulls|pulls\/\d+\/(reviews|comments|requested_reviewers))$/;
/** Marked too, although a merge is hardly "content": see `mergesAreContent`. */
const MERGES = /^PUT \/repos\/[^/]+\/[^/]+\/pulls\/\d+\/merge$/;

export interface SecondaryLimitOptions {
  /** Whether a merge counts as created content too, which GitHub's documentation leaves open. */
  mergesAreContent: boolean;
}

interface Sent {
  at: number;
  api: 'rest' | 'graphql';
  points: number;
  /** How much content it creates. */
  content: number;
}

export class SecondaryLimits {
  /** How many requests each limit has refused. */
  readonly refused = { points: 0, content: 0 };
  readonly #options: SecondaryLimitOptions;
  readonly #now: () => Date;
  readonly #sent = new Map<number, Sent[]>();

  constructor(options: SecondaryLimitOptions, now: () => Date) {
    this.#options = options;
    this.#now = now;
  }

  /** Counts the request, or refuses it as GitHub does. */
  refusal(method: string, path: string, body: unknown, caller: Caller | undefined): Reply | undefined {
    if (caller?.kind !== 'installation') return undefined;
    const now = this.#now().getTime();
    const id = caller.installation.id;
    const sent = (this.#sent.get(id) ?? []).filter(({ at }) => at > now - HOUR_MS);
    this.#sent.set(id, sent);
    const request = this.#valueOf(`${method} ${path}`, method, body, now);
    const lastMinute = sent.filter(({ api, at }) => api === request.api && at > now - MINUTE_MS);
    const points = lastMinute.reduce((sum, one) => sum + one.points, 0);
    if (points + request.points > POINTS_A_MINUTE[request.api]) {
      this.refused.points += 1;
      return refusal((lastMinute[0]?.at ?? now) + MINUTE_MS - now);
    }
    for (const { ms, count } of request.content > 0 ? CONTENT : []) {
      const created = sent.filter(({ content, at }) => content > 0 && at > now - ms);
      if (created.reduce((sum, { content }) => sum + content, 0) + request.content <= count) continue;
      this.refused.content += 1;
      return refusal((created[0]?.at ?? now) + ms - now);
    }
    sent.push(request);
    return undefined;
  }

  #valueOf(route: string, method: string, body: unknown, at: number): Sent {
    if (route === 'POST /graphql') {
      const query = String((body as { query?: unknown } | undefined)?.query);
      const mutates = /^\s*mutation\b/.test(query);
      // The limit holds for both APIs together, and a request counts for each comment that it creates.
      const content = mutates ? [...query.matchAll(/\baddComment\(/g)].length : 0;
      return { at, api: 'graphql', points: mutates ? 5 : 1, content };
    }
    const content = CREATES_CONTENT.test(route) || (this.#options.mergesAreContent && MERGES.test(route));
    return { at, api: 'rest', points: method === 'GET' ? 1 : 5, content: content ? 1 : 0 };
  }
}

function refusal(waitMs: number): Reply {
  return {
    status: 403,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
    body: {
      message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      documentation_url:
        'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits',
    },
  };
}
