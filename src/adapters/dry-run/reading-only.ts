type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` that sends only what reads. The token of a person can write, and the writer of a dry run sends nothing
 * already: this holds for whatever code comes between the two.
 */
export function readingOnly(fetch: Fetch): Fetch {
  return async (input, init) => {
    if (!isReading(init)) throw new Error(`a dry run sends no ${init?.method ?? 'such request'}`);
    return fetch(input, init);
  };
}

/** GraphQL has one address for queries and mutations: https://docs.github.com/en/graphql/guides/forming-calls-with-graphql */
function isReading({ method = 'GET', body }: RequestInit = {}): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  if (method !== 'POST' || typeof body !== 'string') return false;
  const sent: unknown = JSON.parse(body);
  const query = typeof sent === 'object' && sent !== null && 'query' in sent ? sent.query : undefined;
  return typeof query === 'string' && /^\s*(query\b|\{)/.test(query) && !/\bmutation\b/.test(query);
}
