import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import type { Log } from '../core/log.ts';
import type { Intake } from '../delivery/intake.ts';
import { StorageLocked } from '../storage/locked.ts';
import { createBodyReader } from './body.ts';
import { type BodyLimits, createBodyShares } from './body-shares.ts';
import { type Checks, type Failure, failedChecks } from './readiness.ts';
import { createReceiver } from './receive.ts';
import { lockedByAnother, methodNotAllowed, notReady, REFUSALS, type Refusal } from './words.ts';

export const WEBHOOK_PATH = '/api/github/webhooks';

/** GitHub's own limit for a payload: https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap */
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/**
 * What may be held of bodies at a time: of each share, one body of the largest size is kept for others. As many small ones as
 * the most that GitHub was seen to send at once, and more.
 */
function bodyLimits(maxBodyBytes: number): BodyLimits {
  return {
    all: { bytes: 5 * maxBodyBytes, bodies: 3_000 },
    unproven: { bytes: 4 * maxBodyBytes, bodies: 2_500 },
    peer: { bytes: 3 * maxBodyBytes, bodies: 2_000 },
  };
}

export interface ServerParts {
  /** The App's webhook secret. */
  secret: string;
  intake: Intake;
  /** What `/readyz` asks. */
  health: Checks;
  /** What keeps work waiting although webhooks can be taken, in sentences that anybody may read. */
  warnings?: () => string[];
  /** What `/metrics` shows; the server adds its own counter to it. */
  metrics: Registry;
  /** Brings it up to date before it is shown. */
  collectMetrics?: () => Promise<void>;
  log: Log;
  maxBodyBytes?: number;
  /** Milliseconds within which a whole request must have arrived. GitHub itself gives up after 10 seconds. */
  requestTimeoutMs?: number;
  /** Milliseconds of a clock that never goes back, by which a body has been arriving for too long. */
  now?: () => number;
}

interface Route {
  methods: readonly string[];
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * The HTTP server: webhooks in, and what an operator's probes ask. It does not listen yet.
 *
 * Plain `node:http`: Probot's middleware doing nothing was measured at 6,500 deliveries a second, plain HTTP with the signature
 * checked and the body parsed at 10,000; and Probot answers only after its handlers have run.
 */
export function createHttpServer(parts: ServerParts): Server {
  const { log, maxBodyBytes = MAX_BODY_BYTES, requestTimeoutMs = 15_000 } = parts;
  const routes = routesOf(parts, maxBodyBytes);
  const server = createServer(
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
  return server;
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

function routesOf(
  {
    secret,
    intake,
    health,
    warnings = () => [],
    metrics,
    collectMetrics,
    log,
    now = () => performance.now(),
  }: ServerParts,
  maxBodyBytes: number,
): ReadonlyMap<string, Route> {
  const receive = createReceiver({
    secret,
    intake,
    log,
    readBody: createBodyReader(maxBodyBytes, createBodyShares(bodyLimits(maxBodyBytes), now)),
  });
  const answers = new Counter({
    name: 'countersign_webhook_answers_total',
    help: 'Webhooks answered, by HTTP status.',
    labelNames: ['status'],
    registers: [metrics],
  });
  const READ = ['GET', 'HEAD'];

  return new Map<string, Route>([
    [
      WEBHOOK_PATH,
      {
        methods: ['POST'],
        async handle(request, response) {
          const received = await receive(request, response);
          switch (received.kind) {
            case 'accepted':
              answers.inc({ status: 202 });
              return send(response, 202, { delivery: received.guid, status: received.receipt });
            case 'refused':
              answers.inc({ status: received.refusal.status });
              return refuse(response, received.refusal);
            case 'cut':
              return;
          }
        },
      },
    ],
    [
      '/healthz',
      {
        methods: READ,
        async handle(_request, response) {
          send(response, 200, { status: 'up' });
        },
      },
    ],
    [
      '/readyz',
      {
        methods: READ,
        async handle(_request, response) {
          const failures = await failedChecks(health, 2_000);
          for (const { check, error } of failures) log.warn({ check, err: error }, 'not ready');
          if (failures.length > 0) return refuse(response, notReady(failures.map(nameOf)));
          const warned = warnings();
          // Ready all the same: a proxy that sent nothing here would lose the webhooks that wait well in the database.
          send(response, 200, { status: 'ready', ...(warned.length > 0 && { warnings: warned }) });
        },
      },
    ],
    [
      '/metrics',
      {
        methods: READ,
        async handle(_request, response) {
          await collectMetrics?.();
          const text = await metrics.metrics();
          response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
        },
      },
    ],
  ]);
}

/** Of what is wrong, only what anybody may know and an operator needs to: the log has the rest. */
function nameOf({ check, error }: Failure): string {
  return error instanceof StorageLocked ? lockedByAnother(check) : check;
}

function refuse(response: ServerResponse, { status, error, headers }: Refusal): void {
  send(response, status, { error }, headers);
}

function send(
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
