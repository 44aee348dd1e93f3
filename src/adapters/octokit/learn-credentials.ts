import { neverShowForNow } from '../../core/redact/redact.ts';
import type { Fetch } from './transport.ts';

/**
 * A `fetch` that registers every credential for redaction before it is sent. Octokit creates installation
 * tokens and JWTs internally, so no other code sees them. Redaction by value works even if GitHub changes the
 * format of its tokens.
 */
export function learningCredentials(fetch: Fetch): Fetch {
  return (input, init) => {
    const authorization = new Headers(init?.headers).get('authorization') ?? '';
    const credential = authorization.slice(authorization.lastIndexOf(' ') + 1);
    if (credential !== '') neverShowForNow('GitHub token', credential);
    return fetch(input, init);
  };
}
