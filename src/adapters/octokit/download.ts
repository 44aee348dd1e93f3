import { AnswerTooLarge, type Bounds, bounded, type Fetch } from './transport.ts';

/** Why there are no bytes, in words without the address. */
export class NotDownloaded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotDownloaded';
  }
}

/**
 * Fetches what GitHub has led on to, once: without the token, without cookies, and no further. Such an address is good for a minute and for
 * whoever has it, so it is in no message.
 * @returns `undefined` when it is larger than `maxBytes`.
 * @throws NotDownloaded, or what the connection threw.
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

/** Nobody listens in between: encrypted, or on this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
  );
}
