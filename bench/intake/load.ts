import { connect, type Socket } from 'node:net';
import { PATH, type SignedDelivery, signedDeliveries } from './deliveries.ts';
import { nextGuid } from './guid.ts';

/** What the load process sends, and how. */
export interface LoadOrder {
  port: number;
  connections: number;
  count: number;
  /** Default: GitHub's example. */
  deliveries?: readonly { body: string; signature: string }[];
}

export interface LoadResult {
  accepted: number;
  refused: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

process.on('message', async (order: LoadOrder) => process.send?.(await send(order)));

/** Sends `count` deliveries. Each connection sends the next one after its previous one is answered. */
async function send({ port, connections, count, deliveries: given }: LoadOrder): Promise<LoadResult> {
  const deliveries =
    given?.map(({ body, signature }) => ({ body: Buffer.from(body), signature })) ?? signedDeliveries(64);
  const latencies: number[] = [];
  let accepted = 0;
  let next = 0;
  const begun = performance.now();
  const sendInTurn = async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    while (next < count) {
      const delivery = deliveries[next++ % deliveries.length];
      if (!delivery) return;
      const sent = performance.now();
      const status = await post(socket, delivery);
      latencies.push(performance.now() - sent);
      if (status >= 200 && status < 300) accepted++;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, sendInTurn));
  const seconds = (performance.now() - begun) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { accepted, refused: count - accepted, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/**
 * The status of the answer, 0 without one. HTTP is written by hand, with head and body in one write: on a
 * machine with few cores, Node's client would take so much CPU that it hides the difference between the
 * servers.
 */
function post(socket: Socket, { body, signature }: SignedDelivery): Promise<number> {
  return new Promise((resolve) => {
    let answer = '';
    function end(status: number): void {
      socket.off('data', take).off('error', fail).off('close', fail);
      resolve(status);
    }
    function take(chunk: Buffer): void {
      answer += chunk.toString('latin1');
      const [, status, length, text] = ANSWER.exec(answer) ?? [];
      if (text !== undefined && text.length >= Number(length)) end(Number(status));
    }
    function fail(): void {
      end(0);
    }
    socket.on('data', take).on('error', fail).on('close', fail);
    socket.cork();
    socket.write(headOf(body, signature), 'latin1');
    socket.write(body);
    socket.uncork();
  });
}

/** Both servers answer briefly and state the length. */
const ANSWER = /^HTTP\/1\.1 (\d{3}) .*?\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n(.*)$/is;

function headOf(body: Buffer, signature: string): string {
  return [
    `POST ${PATH} HTTP/1.1`,
    'Host: 127.0.0.1',
    'User-Agent: GitHub-Hookshot/0000000',
    'Accept: */*',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'X-GitHub-Event: pull_request',
    `X-GitHub-Delivery: ${nextGuid()}`,
    `X-Hub-Signature-256: ${signature}`,
    '\r\n',
  ].join('\r\n');
}
