import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Log } from '../../core/log.ts';
import { methodNotAllowed, REFUSALS, type Refusal } from './refusals.ts';

/**
 * An import of `node:http` reads all that it exports, `WebSocket` among it, and with that Node loads its whole HTTP
 * client: 4 MB in each thread, which the intake does not need.
 */
const { createServer } = process.getBuiltinModule('node:http');

export interface Route {
  methods: readonly string[];
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export const READ: readonly string[] = ['GET', 'HEAD'];

/** Answers a request for no route of this server. */
export type Otherwise = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * A server for these routes. It does not listen yet.
 * @param requestTimeoutMs the time for a whole request to arrive
 * @param otherwise by default, such a request is refused as not found
 */
export function serveRoutes(
  routes: ReadonlyMap<string, Route>,
  {
    log,
    requestTimeoutMs,
    otherwise,
  }: { log: Log; requestTimeoutMs: number; otherwise?: Otherwise | undefined },
): Server {
  return createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(5_000, requestTimeoutMs),
      // How often Node checks the two timeouts above. The default of 30 seconds would be too coarse.
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      // Longer than the idle timeout of common reverse proxies. The proxy closes first, so no request meets a
      // closing socket.
      keepAliveTimeout: 75_000,
    },
    (request, response) => {
      answer(routes, request, response, otherwise).catch((err) => {
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
  otherwise?: Otherwise,
): Promise<void> {
  const isOurs = await answerIfRouted(routes, request, response);
  if (isOurs) return;
  if (otherwise) await otherwise(request, response);
  else refuse(response, REFUSALS.notFound);
}

/** Answers a request for one of the routes. Returns `false` for any other, and leaves it alone. */
export async function answerIfRouted(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const route = routes.get(path);
  if (!route) return false;
  if (!route.methods.includes(request.method ?? '')) {
    refuse(response, methodNotAllowed(route.methods.join(', ')));
    return true;
  }
  await route.handle(request, response);
  return true;
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
