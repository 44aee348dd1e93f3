import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../../core/log.ts';
import { methodNotAllowed, REFUSALS, type Refusal } from './words.ts';

export interface Route {
  methods: readonly string[];
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export const READ: readonly string[] = ['GET', 'HEAD'];

/**
 * A server for these routes. It does not listen yet.
 * @param requestTimeoutMs within which a whole request must have arrived.
 */
export function serveRoutes(
  routes: ReadonlyMap<string, Route>,
  { log, requestTimeoutMs }: { log: Log; requestTimeoutMs: number },
): Server {
  return createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(5_000, requestTimeoutMs),
      // The two limits above hold only as exactly as they are looked at; the default is every 30 seconds.
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      // Longer than the idle time of the usual reverse proxies, so that theirs ends first and no request meets a closing socket.
      keepAliveTimeout: 75_000,
    },
    (request, response) => {
      answer(routes, request, response).catch((err) => {
        log.error({ err }, 'request failed');
        if (!response.headersSent) refuse(response, REFUSALS.broken);
        else response.destroy();
      });
    },
  );
}

async function answer(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const route = routes.get(path);
  if (!route) return refuse(response, REFUSALS.notFound);
  if (!route.methods.includes(request.method ?? '')) {
    return refuse(response, methodNotAllowed(route.methods.join(', ')));
  }
  await route.handle(request, response);
}

export function refuse(response: ServerResponse, { status, error, headers }: Refusal): void {
  send(response, status, { error }, headers);
}

export function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers?: Record<string, string>,
): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}
