import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { freePort } from '../support/app-environment.ts';
import { hasNginx, startNginx, WITHOUT_NGINX } from '../support/nginx.ts';

type Answer = number | 'none';

/** What stands for a process of the app: it answers all requests with one status, or closes the connection without an answer. */
async function startProcess(
  answer: Answer,
  port = 0,
): Promise<{ address: string; received: { body: string; headers: IncomingHttpHeaders }[] }> {
  const received: { body: string; headers: IncomingHttpHeaders }[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ body, headers: request.headers });
    if (answer === 'none') request.socket.destroy();
    else response.writeHead(answer).end();
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

async function proxyBefore(...addresses: string[]): Promise<string> {
  const nginx = await startNginx(addresses);
  onTestFinished(() => nginx.stop());
  return nginx.url;
}

/** More than nginx keeps in memory, and than it takes by default. */
const BODY = JSON.stringify({ text: 'x'.repeat(2_000_000) });

async function post(url: string, path: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-github-delivery': 'a-guid' };
  return (await fetch(new URL(path, url), { method: 'POST', headers, body: BODY })).status;
}

describe.skipIf(!hasNginx)(`the proxy of deploy/nginx.conf${WITHOUT_NGINX}`, () => {
  it.each<[string, Answer]>([
    ['gets a 503', 503],
    ['gets no answer', 'none'],
  ])('sends a webhook that %s to the next process, with its whole body', async (_, answer) => {
    const [first, second] = [await startProcess(answer), await startProcess(202)];
    const url = await proxyBefore(first.address, second.address);
    expect(await post(url, WEBHOOK_PATH)).toBe(202);
    for (const { received } of [first, second]) {
      expect(received).toHaveLength(1);
      expect(received[0]?.body).toBe(BODY);
      expect(received[0]?.headers['x-github-delivery']).toBe('a-guid');
    }
  });

  it('sends a webhook to the next process if the first does not run', async () => {
    const second = await startProcess(202);
    const url = await proxyBefore(`127.0.0.1:${await freePort()}`, second.address);
    expect(await post(url, WEBHOOK_PATH)).toBe(202);
    expect(second.received).toHaveLength(1);
  });

  it('answers 503 if no process can take a webhook', async () => {
    const both = [await startProcess(503), await startProcess(503)];
    const url = await proxyBefore(...both.map(({ address }) => address));
    expect(await post(url, WEBHOOK_PATH)).toBe(503);
    expect(both.map(({ received }) => received.length)).toEqual([1, 1]);
  });

  it('asks a process again as soon as it runs, also after a moment in which none ran', async () => {
    const ports = [await freePort(), await freePort()];
    const url = await proxyBefore(...ports.map((port) => `127.0.0.1:${port}`));
    expect(await post(url, WEBHOOK_PATH)).toBe(502);
    await startProcess(202, ports[1]);
    expect(await post(url, WEBHOOK_PATH)).toBe(202);
  });

  it('does not send another process a form of Studio that the first may have received', async () => {
    const both = [await startProcess('none'), await startProcess('none')];
    const url = await proxyBefore(...both.map(({ address }) => address));
    expect(await post(url, '/answers')).toBe(502);
    expect(both.flatMap(({ received }) => received)).toHaveLength(1);
  });

  it('keeps a person on one process of Studio, and tells it the address of the person', async () => {
    const both = [await startProcess(200), await startProcess(200)];
    const url = await proxyBefore(...both.map(({ address }) => address));
    // An odd number, so that taking turns would give each person the other process the second time.
    const people = Array.from({ length: 21 }, (_, index) => `203.0.113.${index}`);
    for (const person of [...people, ...people])
      await fetch(url, { headers: { 'x-forwarded-for': `198.51.100.1, ${person}` } });
    const [first, second] = both.map(({ received }) =>
      received.map(({ headers }) => headers['x-forwarded-for']),
    );
    expect(first?.length).toBeGreaterThan(0);
    expect(second?.length).toBeGreaterThan(0);
    expect([...(first ?? []), ...(second ?? [])].sort()).toEqual([...people, ...people].sort());
    expect(first?.filter((person) => second?.includes(person))).toEqual([]);
  });

  it('does not show the metrics of whichever process it asks', async () => {
    const only = await startProcess(200);
    const url = await proxyBefore(only.address);
    expect((await fetch(new URL('/metrics', url))).status).toBe(404);
    expect(only.received).toEqual([]);
  });
});
