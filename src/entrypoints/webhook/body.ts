import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyShares, OverLimit } from './body-shares.ts';
import { Gathered } from './gathered.ts';

/** `cut`: the sender disconnected, so there is no one to answer. */
type Body =
  | {
      kind: 'whole';
      bytes: Buffer;
      /** Call this once the signature is valid: the sender knows the secret. */
      prove(): void;
    }
  | { kind: 'too_large' }
  /** The limit of this sender, or of all senders, is reached. */
  | { kind: 'busy'; over: OverLimit }
  | { kind: 'cut' };

export type BodyReader = (request: IncomingMessage, response: ServerResponse) => Promise<Body>;

/**
 * Reads bodies into memory within two limits: `maxBytes` for one body, and `shares` for each sender. `shares`
 * is needed because a body must be in memory before its signature can be checked, so anybody can make us hold
 * one. Reading stops as soon as a limit is passed, whatever length the request declares. Announced bytes
 * reserve no memory; only received ones do.
 */
export function createBodyReader(maxBytes: number, shares: BodyShares): BodyReader {
  return (request, response) =>
    new Promise((resolve) => {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
        resolve({ kind: 'too_large' });
        return;
      }
      const opened = shares.open(request.socket.remoteAddress, () => stop({ kind: 'busy', over: 'all' }));
      if (typeof opened === 'string') {
        resolve({ kind: 'busy', over: opened });
        return;
      }
      const held = opened;
      const gathered = new Gathered();

      function stop(body: Body): void {
        request.off('data', take).off('end', end).off('close', cut).pause();
        gathered.drop();
        if (body.kind !== 'whole') held.release();
        resolve(body);
      }
      function take(chunk: Buffer): void {
        if (gathered.length + chunk.length > maxBytes) {
          stop({ kind: 'too_large' });
          return;
        }
        const over = held.grow(gathered.cost(chunk));
        if (over) stop({ kind: 'busy', over });
        else gathered.add(chunk);
      }
      function end(): void {
        held.finish();
        stop({ kind: 'whole', bytes: gathered.take(), prove: held.prove });
      }
      function cut(): void {
        stop({ kind: 'cut' });
      }

      // A cut body emits only `close`. Node emits `error` only if there is a listener for it.
      request.on('data', take).on('end', end).on('close', cut);
      response.on('close', held.release);
    });
}
