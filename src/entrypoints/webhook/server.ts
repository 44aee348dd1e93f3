import type { Server } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import { WEBHOOK_PATH } from '../../config/webhook-path.ts';
import type { Log } from '../../core/log.ts';
import { StorageLocked } from '../../ports/locked.ts';
import { createBodyReader } from './body.ts';
import { type BodyLimits, createBodyShares } from './body-shares.ts';
import type { Intake } from './delivery/intake.ts';
import { METRICS_ELSEWHERE, METRICS_PATH, metricsRoute } from './metrics-page.ts';
import { type Checks, type Failure, failedChecks } from './readiness.ts';
import { createReceiver } from './receive.ts';
import { lockedByAnother, notReady } from './refusals.ts';
import { READ, type Route, refuse, send, serveRoutes } from './routes.ts';

/**
 * GitHub's own limit for a payload:
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap
 */
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/**
 * Each limit leaves capacity for one body of the largest size for the next group. The numbers of bodies
 * exceed the largest burst that GitHub was seen to send.
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
  /** The checks behind `/readyz`. */
  health: Checks;
  /** Why work waits although webhooks are accepted, in sentences that are safe to publish. */
  warnings?: () => string[];
  /** The metrics to show. The server adds its own counter. */
  metrics: Registry;
  /** Updates the gauges before each scrape. */
  collectMetrics?: () => Promise<void>;
  /** If set, the metrics are served here too, to requests with this token. */
  metricsToken?: string | undefined;
  log: Log;
  maxBodyBytes?: number;
  /** The time for a whole request to arrive, in milliseconds. GitHub itself stops after 10 seconds. */
  requestTimeoutMs?: number;
  /** A monotonic clock in milliseconds, for the age of incomplete bodies. */
  now?: () => number;
}

/**
 * The HTTP server for webhooks and an operator's probes. It does not listen yet.
 *
 * Uses plain `node:http`. Probot's middleware with an empty handler reached 6,500 deliveries a second, plain
 * HTTP with signature check and parsing 10,000. Probot also answers only after its handlers have run.
 */
export function createHttpServer(parts: ServerParts): Server {
  const { log, maxBodyBytes = MAX_BODY_BYTES, requestTimeoutMs = 15_000 } = parts;
  return serveRoutes(routesOf(parts, maxBodyBytes), { log, requestTimeoutMs });
}

function routesOf(
  {
    secret,
    intake,
    health,
    warnings = () => [],
    metrics,
    collectMetrics,
    metricsToken,
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
          if (failures.length > 0) return refuse(response, notReady(failures.map(publicName)));
          const warned = warnings();
          // Still ready: if a proxy stopped sending here, the webhooks that the database could keep would be
          // lost.
          send(response, 200, { status: 'ready', ...(warned.length > 0 && { warnings: warned }) });
        },
      },
    ],
    [
      METRICS_PATH,
      metricsToken === undefined
        ? METRICS_ELSEWHERE
        : metricsRoute({ metrics, ...(collectMetrics && { collectMetrics }), token: metricsToken }),
    ],
  ]);
}

/** Anybody can read this answer, so it has only what an operator needs. The log has the details. */
function publicName({ check, error }: Failure): string {
  return error instanceof StorageLocked ? lockedByAnother(check) : check;
}
