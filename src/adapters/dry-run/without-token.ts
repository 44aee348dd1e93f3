type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` for somebody without a token. What GitHub shows only to people who signed in is then forbidden: its 401 means
 * elsewhere that a token was refused, and everything would wait for a new one.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#primary-rate-limit-for-unauthenticated-users
 */
export function withoutToken(fetch: Fetch): Fetch {
  return async (input, init) => {
    // GraphQL answers nobody without a token: https://docs.github.com/en/graphql/guides/forming-calls-with-graphql
    if (init?.method === 'POST') return forbidden();
    const answer = await fetch(input, init);
    return answer.status === 401 ? forbidden() : answer;
  };
}

function forbidden(): Response {
  return Response.json({ message: 'GitHub shows this only with a token' }, { status: 403 });
}
