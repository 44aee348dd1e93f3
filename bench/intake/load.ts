import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { PATH, type SignedDelivery, signedDeliveries } from './deliveries.ts';

/** What the load process is asked to send, and how. */
export interface LoadOrder {
  port: number;
  connections: number;
  /** Sent first and not counted, so that both servers are compiled and connected. */
  warmUp: number;
  count: number;
}

export interface LoadResult {
  accepted: number;
  refused: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

const deliveries = signedDeliveries(64);

process.once('message', async (order: LoadOrder) => {
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections });
  await send(order, agent, order.warmUp);
  const result = await send(order, agent, order.count);
  agent.destroy();
  process.send?.(result, () => process.disconnect());
});

/** Sends `count` deliveries, on each connection the next one as soon as the last is answered. */
async function send({ port, connections }: LoadOrder, agent: Agent, count: number): Promise<LoadResult> {
  const latencies: number[] = [];
  let accepted = 0;
  let next = 0;
  const begun = performance.now();
  const sendInTurn = async () => {
    while (next < count) {
      const delivery = deliveries[next++ % deliveries.length];
      if (!delivery) return;
      const sent = performance.now();
      const status = await post(port, agent, delivery);
      latencies.push(performance.now() - sent);
      if (status >= 200 && status < 300) accepted++;
    }
  };
  await Promise.all(Array.from({ length: connections }, sendInTurn));
  const seconds = (performance.now() - begun) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { accepted, refused: count - accepted, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The answer's status; 0 when there was none. */
function post(port: number, agent: Agent, { body, signature }: SignedDelivery): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-github-event': 'pull_request',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': signature,
  };
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path: PATH, method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', () => resolve(0))
      .end(body);
  });
}
