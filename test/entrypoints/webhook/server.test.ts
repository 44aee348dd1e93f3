import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WEBHOOK_PATH } from '../../../src/config/webhook-path.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Receipt, Webhook } from '../../../src/entrypoints/webhook/delivery/intake.ts';
import { countAnswers } from '../../../src/entrypoints/webhook/metrics-page.ts';
import { createHttpServer, type ServerParts } from '../../../src/entrypoints/webhook/server.ts';
import { listen, SECRET, sign } from './support.ts';

const LIMIT = 10_000;
const body = JSON.stringify({ action: 'opened' });
const right = {
  'content-type': 'application/json',
  'x-github-event': 'pull_request',
  'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  'x-hub-signature-256': sign(body),
};

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function startServer(parts: Partial<ServerParts> = {}) {
  const accepted: Webhook[] = [];
  const intake = {
    async accept(webhook: Webhook): Promise<Receipt> {
      accepted.push(webhook);
      return 'recorded';
    },
  };
  const answers = countAnswers();
  const server = createHttpServer({
    secret: SECRET,
    intake,
    health: {},
    answers,
    log: silentLog,
    maxBodyBytes: LIMIT,
    ...parts,
  });
  open.push(server);
  const { url, port } = await listen(server);
  const post = (headers: Record<string, string>, sent: string | Uint8Array<ArrayBuffer> = body) =>
    fetch(url + WEBHOOK_PATH, { method: 'POST', headers, body: sent });
  return { accepted, answers, url, port, post };
}

/** The first line of the answer to these exact bytes; the rest of the request may never come. */
async function statusLine(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(request);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  await once(socket, 'close');
  return answer.split('\r\n', 1)[0] ?? '';
}

const without = (name: keyof typeof right): Record<string, string> => {
  const { [name]: _left, ...rest } = right;
  return rest;
};

describe('the webhook server', () => {
  it('answers 202 to a signed webhook once it is recorded', async () => {
    const running = await startServer();
    const response = await running.post(right);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ delivery: right['x-github-delivery'], status: 'recorded' });
    expect(running.accepted).toEqual([
      {
        guid: right['x-github-delivery'],
        event: 'pull_request',
        body: Buffer.from(body),
        facts: { action: 'opened', installationId: null, repositoryId: null, pullRequest: null },
      },
    ]);
  });

  it('does not answer before the webhook is recorded', async () => {
    const gate = Promise.withResolvers<Receipt>();
    const running = await startServer({ intake: { accept: () => gate.promise } });
    let answered = false;
    const response = running.post(right).then((answer) => {
      answered = true;
      return answer;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(answered).toBe(false);
    gate.resolve('recorded');
    expect((await response).status).toBe(202);
  });

  it('verifies the bytes that were sent, even if they are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const running = await startServer();
    const response = await running.post({ ...right, 'x-hub-signature-256': sign(bytes) }, bytes);
    expect(response.status).toBe(202);
    expect(running.accepted.map((webhook) => webhook.body)).toEqual([bytes]);
  });

  it.each<[string, number, Record<string, string>, string?]>([
    ['another content type', 415, { ...right, 'content-type': 'application/x-www-form-urlencoded' }],
    ['a content type that only begins like JSON', 415, { ...right, 'content-type': 'application/jsonp' }],
    ['no signature', 401, without('x-hub-signature-256')],
    ['a signature with another secret', 401, { ...right, 'x-hub-signature-256': sign(body, 'x'.repeat(16)) }],
    ['a signature of another body', 401, { ...right, 'x-hub-signature-256': sign(`${body} `) }],
    [
      'a signature cut short',
      401,
      { ...right, 'x-hub-signature-256': right['x-hub-signature-256'].slice(0, -1) },
    ],
    [
      'a signature that is not hexadecimal',
      401,
      { ...right, 'x-hub-signature-256': `sha256=${'z'.repeat(64)}` },
    ],
    ['an SHA-1 signature only', 401, { ...without('x-hub-signature-256'), 'x-hub-signature': 'sha1=0' }],
    ['no event', 400, without('x-github-event')],
    ['an invalid event name', 400, { ...right, 'x-github-event': 'Pull Request' }],
    ['no delivery id', 400, without('x-github-delivery')],
    ['a delivery id of 101 characters', 400, { ...right, 'x-github-delivery': 'a'.repeat(101) }],
    ['a delivery id with a quote', 400, { ...right, 'x-github-delivery': "a'b" }],
    ['an unsigned body that is not JSON, without parsing it', 401, right, '{'],
    ['a signed body that is not JSON', 400, { ...right, 'x-hub-signature-256': sign('{') }, '{'],
    ['a signed empty body', 400, { ...right, 'x-hub-signature-256': sign('') }, ''],
    ['a JSON list', 400, { ...right, 'x-hub-signature-256': sign('[]') }, '[]'],
    ['JSON null', 400, { ...right, 'x-hub-signature-256': sign('null') }, 'null'],
  ])('refuses %s with %i, says why, and records nothing', async (_what, status, headers, sent) => {
    const running = await startServer();
    const response = await running.post(headers, sent);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(running.accepted).toEqual([]);
  });

  it('accepts a content type with parameters', async () => {
    const running = await startServer();
    const response = await running.post({ ...right, 'content-type': 'Application/JSON; charset=utf-8' });
    expect(response.status).toBe(202);
  });

  it('accepts a body of exactly the limit', async () => {
    const full = JSON.stringify({ a: 'x'.repeat(LIMIT - '{"a":""}'.length) });
    const running = await startServer();
    const response = await running.post({ ...right, 'x-hub-signature-256': sign(full) }, full);
    expect([full.length, response.status]).toEqual([LIMIT, 202]);
  });

  const head = (extra: string) =>
    `POST ${WEBHOOK_PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nx-hub-signature-256: ${sign('')}\r\n${extra}\r\n\r\n`;

  it('refuses a body that is declared too large without waiting for it', async () => {
    const running = await startServer();
    expect(await statusLine(running.port, head(`content-length: ${LIMIT + 1}`))).toBe(
      'HTTP/1.1 413 Payload Too Large',
    );
  });

  it('stops reading a chunked body once it is too large', async () => {
    const running = await startServer();
    const chunk = `${(LIMIT + 1).toString(16)}\r\n${'x'.repeat(LIMIT + 1)}\r\n`;
    const answer = await statusLine(running.port, head('transfer-encoding: chunked') + chunk);
    expect(answer).toBe('HTTP/1.1 413 Payload Too Large');
    expect(running.accepted).toEqual([]);
  });

  /** As many bodies without their last byte as one sender, or all senders, may hold. */
  const slowBodies = (port: number, count: number, localAddress: string) =>
    Array.from({ length: count }, () => {
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
      socket.write(`${head(`content-length: ${LIMIT}`)}${'x'.repeat(LIMIT - 1)}`);
      return socket;
    });

  const firstAnswer = (sockets: readonly Socket[]) =>
    Promise.race(sockets.map((socket) => once(socket, 'data').then(([data]) => String(data))));

  it('refuses more bodies of a sender that holds too much, says when to retry, and accepts other senders', async () => {
    const running = await startServer({ now: () => 0 });
    const slow = slowBodies(running.port, 4, '127.0.0.2');
    expect(await firstAnswer(slow)).toMatch(/^HTTP\/1.1 429 .*\r\nretry-after: 5\r\n/s);
    expect((await running.post(right)).status).toBe(202);
    for (const socket of slow) socket.destroy();
  });

  it('has room for a sender with an earlier valid signature when all others together hold too much', async () => {
    const running = await startServer({ now: () => 0 });
    expect((await running.post(right)).status).toBe(202);
    const slow = ['127.0.0.2', '127.0.0.3'].flatMap((from) => slowBodies(running.port, 3, from));
    expect(await firstAnswer(slow)).toMatch(/^HTTP\/1.1 503 .*\r\nretry-after: 5\r\n/s);
    expect((await running.post(right)).status).toBe(202);
    for (const socket of slow) socket.destroy();
  });

  it('accepts a webhook behind a proxy through which somebody holds bodies open', async () => {
    let time = 0;
    const running = await startServer({ now: () => time });
    const slow = slowBodies(running.port, 4, '127.0.0.1');
    expect(await firstAnswer(slow)).toMatch(/^HTTP\/1.1 429 /);
    time = 3_000;
    const full = JSON.stringify({ a: 'x'.repeat(LIMIT - '{"a":""}'.length) });
    expect((await running.post({ ...right, 'x-hub-signature-256': sign(full) }, full)).status).toBe(202);
    for (const socket of slow) socket.destroy();
  });

  it('records nothing of a body that is cut off, and continues', async () => {
    const running = await startServer();
    const socket = connect(running.port, '127.0.0.1');
    socket.write(`${head('content-length: 500')}{"a":`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.resetAndDestroy();
    expect((await running.post(right)).status).toBe(202);
    expect(running.accepted).toHaveLength(1);
  });

  it.each([
    ['headers', `POST ${WEBHOOK_PATH} HTTP/1.1\r\nhost: a\r\n`],
    ['a body', `${head('content-length: 500')}{"a":`],
  ])('gives up on %s that do not arrive', async (_what, request) => {
    const running = await startServer({ requestTimeoutMs: 100 });
    expect(await statusLine(running.port, request)).toBe('HTTP/1.1 408 Request Timeout');
    expect(running.accepted).toEqual([]);
  });

  it('answers 503 if the delivery could not be recorded, so that GitHub keeps it', async () => {
    const running = await startServer({
      intake: { accept: () => Promise.reject(new Error('disk full at /data')) },
    });
    const response = await running.post(right);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchInlineSnapshot(`
      {
        "error": "The delivery could not be recorded, so it was not accepted; redeliver it when the app is healthy again.",
      }
    `);
  });

  it('allows POST only', async () => {
    const running = await startServer();
    const response = await fetch(running.url + WEBHOOK_PATH);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.json()).toEqual({ error: 'Use POST here.' });
  });

  it('answers 404 at other addresses', async () => {
    const running = await startServer();
    const response = await fetch(`${running.url}/api/github/webhooks/`);
    expect(response.status).toBe(404);
  });

  it('counts its answers by status', async () => {
    const running = await startServer();
    await running.post(right);
    await running.post(without('x-hub-signature-256'));
    expect(running.answers.page()).toMatch(
      /answers_total\{status="202"\} 1\n.*answers_total\{status="401"\} 1\n/s,
    );
  });
});

describe('the probes', () => {
  it('report that the process is up, whatever else is wrong', async () => {
    const running = await startServer({ health: { database: () => Promise.reject(new Error('gone')) } });
    const response = await fetch(`${running.url}/healthz?from=docker`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'up' }]);
  });

  it('report that it is ready when every check passes', async () => {
    const running = await startServer({ health: { database: async () => {}, queue: async () => {} } });
    const response = await fetch(`${running.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready' }]);
  });

  it('say that the engine hangs, once its thread has run nothing for more than a minute', async () => {
    let silentMs = 60_000;
    const engine = {
      metrics: async () => '',
      readiness: async () => ({ failures: [], warnings: [] }),
      silentMs: () => silentMs,
    };
    const running = await startServer({ engine });
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
    silentMs = 61_000;
    const response = await fetch(`${running.url}/healthz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ error: 'The engine has not responded for 61 s.' });
  });

  it('name the checks that fail or hang, without internals', { tags: 'slow' }, async () => {
    const health = {
      database: () => Promise.reject(new Error('cannot open /data/secret.db')),
      disk: async () => {},
      queue: () => new Promise<void>(() => {}),
    };
    const running = await startServer({ health });
    const response = await fetch(`${running.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([503, { error: 'Not ready: database, queue.' }]);
  });

  it('answer HEAD without a body and refuse POST', async () => {
    const running = await startServer();
    const head = await fetch(`${running.url}/healthz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await fetch(`${running.url}/healthz`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
