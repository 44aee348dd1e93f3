/** The response was cut off because it is larger than needed. */
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
 * A `fetch` with limits: `timeoutMs` for the whole response, and `maxBytes`. The body is read here, because
 * Octokit treats a connection that breaks inside a JSON body as an empty response; here it is an error. This
 * also limits the requests for tokens, which a signal passed to Octokit does not reach.
 */
export function bounded(
  fetch: typeof globalThis.fetch,
  { timeoutMs, maxBytes }: Bounds,
): typeof globalThis.fetch {
  return async (input, init) => {
    // Rejected: `AbortSignal.timeout`, whose timer keeps what belongs to the request in memory after the answer, until its time is over.
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new DOMException(`no complete answer in ${timeoutMs} ms`, 'TimeoutError')),
      timeoutMs,
    );
    try {
      const response = await fetch(input, { ...init, signal: late.signal });
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of response.body ?? []) {
        size += chunk.byteLength;
        if (size > maxBytes) throw new AnswerTooLarge(maxBytes);
        chunks.push(chunk);
      }
      const mayHaveBody = ![204, 205, 304].includes(response.status);
      const { status, headers } = response;
      return new Response(mayHaveBody ? Buffer.concat(chunks) : null, { status, headers });
    } finally {
      clearTimeout(timer);
    }
  };
}
