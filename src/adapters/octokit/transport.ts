import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { Urgency } from '../../ports/github.ts';
import type { Budget } from './budget.ts';
import type { RequestLimiter } from './request-limiter.ts';

export type Fetch = typeof globalThis.fetch;

/** The answer was cut off because nobody wants that much. */
export class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes.toLocaleString('en')} bytes`);
    this.name = 'AnswerTooLarge';
  }
}

export interface Bounds {
  timeoutMs: number;
  maxBytes: number;
}

/**
 * A `fetch` that ends: after `timeoutMs` for the whole answer, or once it exceeds `maxBytes`. The body is read in here
 * because Octokit takes a connection that breaks in the middle of a JSON body for an empty answer; like this it is an
 * error. It also bounds the requests for tokens, which a signal given to Octokit does not reach.
 */
export function bounded(fetch: Fetch, { timeoutMs, maxBytes }: Bounds): Fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new AnswerTooLarge(maxBytes);
      chunks.push(chunk);
    }
    return answer(response.status, response.headers, Buffer.concat(chunks));
  };
}

/** As many as GitHub leads a request on in a row at most: a renamed repository that was renamed again is one redirect. */
const MAX_REDIRECTS = 3;

/**
 * A `fetch` that follows a redirect of a write as it was meant: a repository that was renamed or moved answers so. By the
 * rules of `fetch` itself, a POST that is answered 301 would be repeated as a GET, whose success would pass for the write's.
 * It goes nowhere but to the same host, since the token goes with it.
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

export interface CachedAnswer {
  etag: string;
  headers: [string, string][];
  body: Uint8Array;
}
export type AnswerCache = LRUCache<string, CachedAnswer>;

/** Set on answers that GitHub confirmed as unchanged, which cost nothing of the hourly limit. */
export const REVALIDATED = 'x-countersign-revalidated';

/**
 * A `fetch` that asks GitHub whether what it knows is still so, and answers from memory when it is. It asks every
 * time: nothing is ever answered without GitHub. A hook of Octokit was rejected: there, a 304 is an exception, and
 * parsed bodies have no known size and could be changed by whoever got them first.
 * @param scope Keeps installations apart: what one may read, another may not.
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
      return answer(200, merged, known.body);
    }
    const etag = response.headers.get('etag');
    if (response.status !== 200 || etag === null) return response;
    const body = new Uint8Array(await response.arrayBuffer());
    cache.set(key, { etag, headers: [...response.headers], body });
    return answer(200, response.headers, body);
  };
}

/** The app itself did not send the request: the rest of the limit is kept for others, or GitHub asked for a break. */
export class HeldBack extends Error {
  readonly retryAt: Date;

  constructor(retryAt: Date) {
    super('not sent: GitHub’s rate limit of this installation is spent');
    this.name = 'HeldBack';
    this.retryAt = retryAt;
  }
}

/** A `fetch` for tokens: their limit is the app's, not the installation's, but during a break there is no use for one. */
export function unlessHeld(fetch: Fetch, { budget, clock }: { budget: Budget; clock: Clock }): Fetch {
  return async (input, init) => {
    const until = budget.heldUntil(clock.now());
    if (until) throw new HeldBack(until);
    return fetch(input, init);
  };
}

/**
 * A `fetch` that keeps to GitHub's limits: it waits for its turn in the lane, and refuses what the budget does not allow.
 * @throws HeldBack
 */
export function paced(
  fetch: Fetch,
  {
    budget,
    limiter,
    urgency,
    clock,
  }: { budget: Budget; limiter: RequestLimiter; urgency: Urgency; clock: Clock },
): Fetch {
  return async (input, init) => {
    const isRead = init?.method === 'GET';
    const mayBeFree = isRead && new Headers(init.headers).has('if-none-match');
    const inFlight = limiter.inFlight();
    const refused = budget.refusedUntil({ urgency, mayBeFree, inFlight }, clock.now());
    if (refused) throw new HeldBack(refused);
    const answered = await limiter.enter(urgency, isRead ? POINTS.read : POINTS.write);
    try {
      // GitHub may have asked for a break while this one waited.
      const meanwhile = budget.refusedUntil({ urgency, mayBeFree, inFlight: 0 }, clock.now());
      if (meanwhile) throw new HeldBack(meanwhile);
      const response = await fetch(input, init);
      budget.answered(response.headers);
      return response;
    } finally {
      answered();
    }
  };
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#calculating-points-for-the-secondary-rate-limit */
const POINTS = { read: 1, write: 5 };

function answer(status: number, headers: Headers, body: Uint8Array): Response {
  const mayHaveBody = ![204, 205, 304].includes(status);
  return new Response(mayHaveBody ? new Uint8Array(body) : null, { status, headers });
}
