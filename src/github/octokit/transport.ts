import type { LRUCache } from 'lru-cache';

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

function answer(status: number, headers: Headers, body: Uint8Array): Response {
  const mayHaveBody = ![204, 205, 304].includes(status);
  return new Response(mayHaveBody ? new Uint8Array(body) : null, { status, headers });
}
