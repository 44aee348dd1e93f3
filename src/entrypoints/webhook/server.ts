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
import { READ, type Route, refuse, send, serveRoutes } from './routes.ts';
import { lockedByAnother, notReady } from './words.ts';

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
  /** What the metrics show; the server adds its own counter to it. */
  metrics: Registry;
  /** Brings it up to date before it is shown. */
  collectMetrics?: () => Promise<void>;
  /** Shows the metrics here, too, to whoever sends it. */
  metricsToken?: string | undefined;
  log: Log;
  maxBodyBytes?: number;
  /** Milliseconds within which a whole request must have arrived. GitHub itself gives up after 10 seconds. */
  requestTimeoutMs?: number;
  /** Milliseconds of a clock that never goes back, by which a body has been arriving for too long. */
  now?: () => number;
}

/**
 * The HTTP server: webhooks in, and what an operator's probes ask. It does not listen yet.
 *
 * Plain `node:http`: Probot's middleware doing nothing was measured at 6,500 deliveries a second, plain HTTP with the signature
 * checked and the body parsed at 10,000; and Probot answers only after its handlers have run.
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
          if (failures.length > 0) return refuse(response, notReady(failures.map(nameOf)));
          const warned = warnings();
          // Ready all the same: a proxy that sent nothing here would lose the webhooks that wait well in the database.
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

/** Of what is wrong, only what anybody may know and an operator needs to: the log has the rest. */
function nameOf({ check, error }: Failure): string {
  return error instanceof StorageLocked ? lockedByAnother(check) : check;
}
