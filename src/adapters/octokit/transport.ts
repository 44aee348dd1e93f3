import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { Urgency } from '../../ports/github.ts';
import type { Budget } from './budget.ts';
import type { LimitedRequest, RequestLimiter } from './request-limiter.ts';

export type Fetch = typeof globalThis.fetch;

/** In a row, per request. A repository that was renamed twice is still one redirect. */
const MAX_REDIRECTS = 3;

/**
 * A `fetch` that follows redirects of writes with the same method, as GitHub uses them for renamed and moved
 * repositories. The rules of `fetch` would repeat a POST that is answered 301 as a GET, whose success would
 * look like that of the write. It only follows to the same host, because the token is sent along.
 */
export function redirected(fetch: Fetch): Fetch {
  return async (input, init) => {
    if (init?.method === undefined || init.method === 'GET') return fetch(input, init);
    let url = new URL(String(input));
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      if (response.status < 300 || response.status >= 400) return response;
      await response.body?.cancel();
      const next = new URL(response.headers.get('location') ?? url, url);
      if (next.origin !== url.origin) throw new Error('GitHub leads to another host; that is not followed');
      url = next;
    }
    throw new Error(`GitHub leads on more than ${MAX_REDIRECTS} times; that is not followed`);
  };
}

/** What is known of an answer that may be asked for again. */
interface CachedAnswer {
  etag: string;
  headers: [string, string][];
  /**
   * The body, compressed to a fifth, as a string of bytes: small buffers would each hold memory of their own
   * outside the heap, in pieces that nothing else fits into.
   */
  packed: string;
}
export type AnswerCache = LRUCache<string, CachedAnswer>;

/**
 * Bytes of answers that are kept for all installations: those of 500 pull requests at work. GitHub counts an
 * answer against the limit again when it is no longer here.
 */
const CACHE_BYTES = 8 * 1_048_576;
/** Larger bodies than this are files, which are asked for once. */
const LARGEST_CACHED_BYTES = 4 * 1_048_576;
/** What an entry takes beside its texts. */
const ENTRY_BYTES = 300;
/** The headers that are read again. All others describe the response, not what was answered. */
const KEPT_HEADERS = ['content-type', 'link'];

export function createAnswerCache(maxBytes = CACHE_BYTES): AnswerCache {
  return new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: ({ etag, headers, packed }, key) =>
      ENTRY_BYTES + key.length + etag.length + packed.length + headers.flat().join('').length,
  });
}

/** Marks responses that GitHub confirmed as unchanged, which do not count towards the hourly limit. */
export const REVALIDATED = 'x-countersign-revalidated';

/**
 * A `fetch` that makes GET requests conditional, and answers from its cache if GitHub confirms that nothing
 * changed. It asks GitHub every time. Rejected: a hook of Octokit, where a 304 is an exception, and where
 * parsed bodies have no known size and could be modified by their first user.
 * @param scope keeps installations apart, because they can have different permissions
 */
export function conditional(fetch: Fetch, cache: AnswerCache, scope: string): Fetch {
  return async (input, init) => {
    if (init?.method !== 'GET') return fetch(input, init);
    const headers = new Headers(init.headers);
    const key = `${scope} ${headers.get('accept')} ${input}`;
    const known = cache.get(key);
    if (known) headers.set('if-none-match', known.etag);

    const response = await fetch(input, { ...init, headers });
    if (response.status === 304 && known) {
      const merged = new Headers(known.headers);
      for (const [name, value] of response.headers) merged.set(name, value);
      merged.set(REVALIDATED, 'true');
      return new Response(inflateRawSync(Buffer.from(known.packed, 'latin1')), {
        status: 200,
        headers: merged,
      });
    }
    const etag = response.headers.get('etag');
    if (response.status !== 200 || etag === null) return response;
    const body = Buffer.from(await response.arrayBuffer());
    if (body.byteLength <= LARGEST_CACHED_BYTES) {
      const packed = deflateRawSync(body, { level: 1 }).toString('latin1');
      const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value]];
      });
      cache.set(key, { etag, headers: kept, packed });
    }
    return new Response(body, { status: 200, headers: response.headers });
  };
}

/** This app did not send the request: the rest of the limit is reserved, or GitHub asked for a pause. */
export class HeldBack extends Error {
  readonly retryAt: Date;

  constructor(retryAt: Date) {
    super('not sent: GitHub’s rate limit of this installation is spent');
    this.name = 'HeldBack';
    this.retryAt = retryAt;
  }
}

/**
 * A `fetch` for tokens. Their limit is the app's, not the installation's, but during a pause a token is
 * useless.
 */
export function unlessHeld(fetch: Fetch, { budget, clock }: { budget: Budget; clock: Clock }): Fetch {
  return async (input, init) => {
    const until = budget.heldUntil(clock.now());
    if (until) throw new HeldBack(until);
    return fetch(input, init);
  };
}

/**
 * A `fetch` that respects GitHub's limits: it waits for the limiter, and refuses what the budget does not
 * allow.
 * @throws HeldBack
 */
export function rateLimited(
  fetch: Fetch,
  {
    budget,
    limiter,
    urgency,
    clock,
    graphqlBudget,
  }: {
    budget: Budget;
    limiter: RequestLimiter;
    urgency: Urgency;
    clock: Clock;
    /** Given for a GraphQL query, which counts only there. A pause that GitHub asks for still holds for all. */
    graphqlBudget?: Budget;
  },
): Fetch {
  const refusal: Budget['refusedUntil'] = (request, now) =>
    graphqlBudget
      ? (budget.heldUntil(now) ?? graphqlBudget.refusedUntil(request, now))
      : budget.refusedUntil(request, now);
  return async (input, init) => {
    const mayBeFree = init?.method === 'GET' && new Headers(init.headers).has('if-none-match');
    const inFlight = limiter.inFlight();
    const refused = refusal({ urgency, mayBeFree, inFlight }, clock.now());
    if (refused) throw new HeldBack(refused);
    const answered = await limiter.enter(urgency, worthOf(input, init));
    try {
      // GitHub may have asked for a pause while this request waited.
      const meanwhile = refusal({ urgency, mayBeFree, inFlight: 0 }, clock.now());
      if (meanwhile) throw new HeldBack(meanwhile);
      const response = await fetch(input, init);
      budget.answered(response.headers);
      graphqlBudget?.answered(response.headers);
      return response;
    } finally {
      answered();
    }
  };
}

/**
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#calculating-points-for-the-secondary-rate-limit
 */
const POINTS = { read: 1, write: 5 };

/** A query of GraphQL is a POST, and only reads. */
function worthOf(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): LimitedRequest {
  if (!String(input).endsWith('/graphql')) {
    return { api: 'rest', points: init?.method === 'GET' ? POINTS.read : POINTS.write };
  }
  const mutates = /"query":\s*"\s*mutation\b/.test(String(init?.body));
  return { api: 'graphql', points: mutates ? POINTS.write : POINTS.read };
}
