import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../src/core/clock.ts';
import { counter, draw } from './draw.ts';

export interface DeliveryProxyOptions {
  seed: number;
  clock: Clock;
  /** Shares of all deliveries, from 0 to 1. */
  lost: number;
  doubled: number;
  delayed: number;
}

/** An unreliable proxy between GitHub and the app. */
export interface DeliveryProxy {
  /** Where GitHub sends to. */
  url: string;
  /** Where the app listens now. */
  forwardTo(url: string): void;
  /** Delivers what was delayed until now; `all` also what is not due. */
  deliver(which: 'due' | 'all'): Promise<void>;
  /** From now on every delivery arrives once and at once. */
  stopFaults(): void;
  counts(): Record<string, number>;
  stop(): Promise<void>;
}

interface HeldDelivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const LONGEST_DELAY_MS = 600_000;

/**
 * Loses, doubles and delays deliveries by the seed. A lost one is answered 502, as by a proxy whose app is down: GitHub knows
 * that it failed, and the app does not know that it existed.
 */
export async function startDeliveryProxy(options: DeliveryProxyOptions): Promise<DeliveryProxy> {
  const { seed, clock } = options;
  const arrived = counter();
  const mishaps = counter();
  let waiting: { at: number; letter: HeldDelivery }[] = [];
  let appUrl = '';
  let healthy = false;

  async function accept(held: HeldDelivery): Promise<number> {
    const event = String(held.headers['x-github-event']);
    const nth = arrived.next(event);
    const fate = healthy ? 1 : draw(seed, 'delivery', event, nth);
    const { lost, doubled, delayed } = options;
    // The opening of the first pull request is always lost. Later ones are mostly found by polls of what is open already.
    if (fate < lost || (lost > 0 && event === 'pull_request' && nth === 1)) {
      mishaps.next('lost');
      return 502;
    }
    if (fate < lost + doubled) {
      mishaps.next('doubled');
      await forward(appUrl, held);
    } else if (fate < lost + doubled + delayed) {
      mishaps.next('delayed');
      const delay = draw(seed, 'delay', event, nth) * LONGEST_DELAY_MS;
      waiting.push({ at: clock.now().getTime() + delay, letter: held });
      return 202;
    }
    return forward(appUrl, held);
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', async () => {
      response.statusCode = await accept({ headers: incoming.headers, body: Buffer.concat(chunks) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    forwardTo(url) {
      appUrl = url;
    },
    async deliver(which) {
      const due = (at: number) => which === 'all' || at <= clock.now().getTime();
      const letters = waiting.filter(({ at }) => due(at));
      waiting = waiting.filter(({ at }) => !due(at));
      for (const { letter: held } of letters) await forward(appUrl, held);
    },
    stopFaults() {
      healthy = true;
    },
    counts: mishaps.counts,
    stop: () => close(server),
  };
}

/** @returns the app's status, 502 if it cannot be reached. */
function forward(url: string, { headers, body }: HeldDelivery): Promise<number> {
  return new Promise((resolve) => {
    const call = request(url, { method: 'POST', agent: false, headers: { ...headers, connection: 'close' } });
    call.on('response', (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 502));
    });
    call.on('error', () => resolve(502));
    call.end(body);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
