import { neverShowForNow } from '../../core/redact/redact.ts';
import type { Fetch } from './transport.ts';

/**
 * A `fetch` that has the redaction know every credential before it is sent: installation tokens and JWTs come and go
 * inside Octokit, and no list of ours would hold them otherwise. What GitHub or a proxy echoes of them is hidden by value,
 * whatever GitHub's tokens look like one day.
 */
export function learningCredentials(fetch: Fetch): Fetch {
  return (input, init) => {
    const authorization = new Headers(init?.headers).get('authorization') ?? '';
    const credential = authorization.slice(authorization.lastIndexOf(' ') + 1);
    if (credential !== '') neverShowForNow('GitHub token', credential);
    return fetch(input, init);
  };
}
