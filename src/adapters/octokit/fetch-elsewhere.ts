import type { MessagePort } from 'node:worker_threads';
import type { Fetch } from './transport.ts';

/*
 * A function cannot be passed to another thread. If a server has a `fetch` of its own, for a proxy perhaps, the engine's thread asks the
 * server's to send each request. Bodies of answers are streams, so the engine stops those that are too large.
 */

type Order = { id: number; url: string; init: Pick<RequestInit, Passed> } | { id: number; kind: 'abort' };
type Passed = 'method' | 'headers' | 'body' | 'redirect' | 'credentials';

interface Head {
  id: number;
  status: number;
  headers: [string, string][];
  body: ReadableStream<Uint8Array> | null;
}
type Answer = Head | { id: number; failed: string };

/** Sends the requests that `fetchOver` gets at the port's other end. Does not keep the process running. */
export function answerFetches(port: MessagePort, fetch: Fetch): void {
  const underWay = new Map<number, AbortController>();
  const send = (answer: Answer, transfer: ReadableStream[] = []) => port.postMessage(answer, transfer);

  async function answer(id: number, url: string, init: RequestInit): Promise<void> {
    const aborting = new AbortController();
    underWay.set(id, aborting);
    try {
      const { status, headers, body } = await fetch(url, { ...init, signal: aborting.signal });
      send({ id, status, headers: [...headers], body }, body ? [body] : []);
    } catch (error) {
      send({ id, failed: causeOf(error) });
    } finally {
      underWay.delete(id);
    }
  }

  port.on('message', (order: Order) => {
    if ('url' in order) void answer(order.id, order.url, order.init);
    else underWay.get(order.id)?.abort();
  });
  port.unref();
}

/** A `fetch` whose requests are sent at the port's other end. */
export function fetchOver(port: MessagePort): Fetch {
  const waiting = new Map<number, PromiseWithResolvers<Head>>();
  let lastId = 0;
  const send = (order: Order) => port.postMessage(order);
  port.on('message', (answer: Answer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('failed' in answer) asked?.reject(new Error(answer.failed));
    else asked?.resolve(answer);
  });
  port.unref();

  return async (input, init = {}) => {
    const { signal, method, body: sent, redirect, credentials } = init;
    signal?.throwIfAborted();
    const id = ++lastId;
    const asked = Promise.withResolvers<Head>();
    waiting.set(id, asked);
    const abort = () => {
      waiting.delete(id);
      send({ id, kind: 'abort' });
      asked.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort);
    try {
      const passed = { method, body: sent, redirect, credentials, headers: [...new Headers(init.headers)] };
      send({ id, url: String(input), init: passed });
      const { status, headers, body } = await asked.promise;
      const readable = body?.pipeThrough(new TransformStream(), signal ? { signal } : {});
      return new Response(readable ?? null, { status, headers });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  };
}

/** `fetch` fails with "fetch failed", and says why in the cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const said = cause instanceof Error && cause.message !== '' ? cause : error;
  return said instanceof Error ? said.message : String(said);
}
