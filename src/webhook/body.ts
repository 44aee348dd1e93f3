import type { IncomingMessage, ServerResponse } from 'node:http';

/** `cut`: the sender went away, so there is nobody to answer. */
export type Body =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too_large' }
  | { kind: 'busy' }
  | { kind: 'cut' };

export type BodyReader = (request: IncomingMessage, response: ServerResponse) => Promise<Body>;

/**
 * Reads bodies into memory within two limits: `maxBytes` for one, `maxHeldBytes` for all that are held at the same time.
 * The second is needed because a body must be held before its signature can be checked, so anybody can make us hold one. When
 * a limit is passed reading stops at once, declared length or not.
 */
export function createBodyReader(maxBytes: number, maxHeldBytes: number): BodyReader {
  let heldByAll = 0;

  return (request, response) =>
    new Promise((resolve) => {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
        resolve({ kind: 'too_large' });
        return;
      }
      const chunks: Buffer[] = [];
      let held = 0;

      function stop(body: Body): void {
        request.off('data', take).off('end', end).off('close', cut).pause();
        resolve(body);
      }
      function take(chunk: Buffer): void {
        chunks.push(chunk);
        held += chunk.length;
        heldByAll += chunk.length;
        if (held > maxBytes) stop({ kind: 'too_large' });
        else if (heldByAll > maxHeldBytes) stop({ kind: 'busy' });
      }
      function end(): void {
        const [first] = chunks;
        stop({ kind: 'whole', bytes: first && chunks.length === 1 ? first : Buffer.concat(chunks) });
      }
      function cut(): void {
        stop({ kind: 'cut' });
      }

      // A cut body ends in `close` alone: Node emits its `error` only to those who listen for it.
      request.on('data', take).on('end', end).on('close', cut);
      response.on('close', () => {
        heldByAll -= held;
      });
    });
}
