import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyShares, OverLimit } from './body-shares.ts';
import { Gathered } from './gathered.ts';

/** `cut`: the sender went away, so there is nobody to answer. */
export type Body =
  | {
      kind: 'whole';
      bytes: Buffer;
      /** To be called once the signature is right: its sender is one that knows the secret. */
      prove(): void;
    }
  | { kind: 'too_large' }
  /** More than the sender, or all of them, may have held at a time. */
  | { kind: 'busy'; over: OverLimit }
  | { kind: 'cut' };

export type BodyReader = (request: IncomingMessage, response: ServerResponse) => Promise<Body>;

/**
 * Reads bodies into memory within limits: `maxBytes` for one, and what `shares` gives to its sender. The second is needed because a body
 * must be held before its signature can be checked, so anybody can make us hold one. When a limit is passed reading stops
 * at once, declared length or not. No memory is taken for bytes that were only announced.
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

      // A cut body ends in `close` alone: Node emits its `error` only to those who listen for it.
      request.on('data', take).on('end', end).on('close', cut);
      response.on('close', held.release);
    });
}
