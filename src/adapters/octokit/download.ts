import { AnswerTooLarge, type Bounds, bounded } from '../../core/bounded-fetch.ts';
import type { Fetch } from './transport.ts';

/** Why the download failed, without the address. */
export class NotDownloaded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotDownloaded';
  }
}

/**
 * Downloads from an address that GitHub redirected to, once: without the token and cookies, and without
 * further redirects. Such an address is valid for a minute for anybody who has it, so no message contains it.
 * @returns `undefined` if it is larger than `maxBytes`
 * @throws NotDownloaded, or the connection's error
 */
export async function download(
  fetch: Fetch,
  location: string | undefined,
  bounds: Bounds,
): Promise<Uint8Array | undefined> {
  if (location === undefined || !URL.canParse(location))
    throw new NotDownloaded('GitHub did not say where it is');
  const url = new URL(location);
  if (!isPrivate(url))
    throw new NotDownloaded('GitHub leads to a place without encryption; that is not followed');
  try {
    const response = await bounded(fetch, bounds)(url, { redirect: 'error', credentials: 'omit' });
    if (response.status !== 200) throw new NotDownloaded(`its place answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof AnswerTooLarge) return undefined;
    throw error;
  }
}

/** Nobody can listen: encrypted, or on this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
  );
}
