import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  createOctokitGitHub,
  type OctokitGitHub,
  type OctokitGitHubOptions,
} from '../../../src/adapters/octokit/octokit-github.ts';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createRequestValidator } from '../../support/openapi/validator.ts';

export const APP_ID = 4711;
export const INSTALLATION = 99;
export const REPO = { owner: 'acme', name: 'shop' };
export const NOW = new Date('2030-01-02T03:04:05Z');
export const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** What the fake server answers: a JSON body with 200 by default. */
interface Answer {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}
type Handler = (request: Received, response: ServerResponse) => Answer | undefined;

interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export interface Fake {
  github: OctokitGitHub;
  /** In order, without the requests for tokens. */
  requests: Received[];
  /** Answers `METHOD /path`, where the path has no query; the last answer given for a path counts. */
  on(route: string, handler: Answer | Handler): void;
}

const TOKEN_ROUTE = `POST /app/installations/${INSTALLATION}/access_tokens`;
const validate = createRequestValidator();

/**
 * A server that answers what a test tells it to, and the adapter in front of it. For tests of what only a real connection shows:
 * answers that come late, in pieces or never, and requests side by side. `scripted.ts` is simpler for all others. The server answers 400
 * with the reason to requests that GitHub's own description does not allow, which fails the test.
 */
export async function startFake({
  key = privateKey,
  ...options
}: Partial<OctokitGitHubOptions> & { key?: string } = {}): Promise<Fake> {
  const handlers = new Map<string, Handler>();
  const on: Fake['on'] = (route, handler) => {
    handlers.set(route, typeof handler === 'function' ? handler : () => handler);
  };
  const requests: Received[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    // GraphQL is not covered by the description of REST.
    const path = (request.url ?? '').replace(/^\/api(\/v3|(?=\/graphql$))/, '');
    const received: Received = {
      method: request.method ?? '',
      path,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    const route = `${received.method} ${path.split('?')[0]}`;
    // GitHub itself gives addresses by id, in redirects.
    const faults = path.startsWith('/repositories/') ? [] : validate(received);
    if (faults.length > 0) return void response.writeHead(400).end(faults.join('\n'));
    if (route !== TOKEN_ROUTE) requests.push(received);
    const answer = handlers.get(route)
      ? handlers.get(route)?.(received, response)
      : { status: 404, body: { message: 'Not Found' } };
    if (answer) send(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  on(TOKEN_ROUTE, {
    status: 201,
    body: { token: 'ghs_secret', expires_at: '2099-01-01T00:00:00Z', permissions: { checks: 'write' } },
  });
  const github = createOctokitGitHub({
    source: octokitsWithKey({
      appId: APP_ID,
      privateKey: key,
      apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
    }),
    log: silentLog,
    clock: { now: () => NOW },
    ...options,
  });
  return { github, requests, on };
}

function send(response: ServerResponse, { status = 200, body, headers = {} }: Answer): void {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text);
}
