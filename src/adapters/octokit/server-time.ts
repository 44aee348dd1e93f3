import { bounded } from '../../core/bounded-fetch.ts';
import { messageOf } from '../../core/errors.ts';
import { GitHubError } from '../../ports/github.ts';
import type { Fetch } from './transport.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/**
 * The time on GitHub's server, to the second, from the header of any answer. Asked without the app's key, because a
 * wrong clock can be why GitHub refuses that.
 * @throws GitHubError if the server cannot be reached, or does not say the time
 */
export async function readServerTime(apiUrl: string, fetch: Fetch = globalThis.fetch): Promise<Date> {
  try {
    const ask = bounded(fetch, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    const { headers } = await ask(apiUrl, { method: 'GET', headers: { 'user-agent': 'countersign' } });
    const time = new Date(headers.get('date') ?? '');
    if (Number.isNaN(time.getTime())) throw new Error('the answer has no date');
    return time;
  } catch (error) {
    throw new GitHubError('unavailable', 0, messageOf(error));
  }
}
