import { messageOf } from '../../../core/errors.ts';

export type Downloaded =
  | { kind: 'body'; bytes: Uint8Array; etag: string | null }
  | { kind: 'unchanged' }
  | { kind: 'failed'; because: string };

export interface DownloadBounds {
  /** After decompression. */
  maxBytes: number;
  signal: AbortSignal;
  /** Of the stored copy. The server then answers only that it is unchanged. */
  etag?: string | undefined;
}

const TIMEOUT_MS = 20_000;
const UNCHANGED = 304;

/**
 * Downloads a document without cookies or keys. Does not follow redirects, because only the given address was
 * checked. Never rejects.
 */
export async function download(url: URL, { maxBytes, signal, etag }: DownloadBounds): Promise<Downloaded> {
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
    });
    if (response.status === UNCHANGED && etag !== undefined) {
      await response.body?.cancel();
      return { kind: 'unchanged' };
    }
    if (!response.ok) {
      await response.body?.cancel();
      return failed(`the server answered with status ${response.status}`);
    }
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.byteLength;
      // Leaving the loop closes the connection.
      if (bytes > maxBytes) return failed(`it has more than ${maxBytes} bytes`);
      parts.push(part);
    }
    return { kind: 'body', bytes: Buffer.concat(parts), etag: response.headers.get('etag') };
  } catch (error) {
    return failed(explain(error));
  }
}

function explain(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'it did not come in time';
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return `it cannot be read: ${messageOf(cause)}`;
}

function failed(because: string): Downloaded {
  return { kind: 'failed', because };
}
