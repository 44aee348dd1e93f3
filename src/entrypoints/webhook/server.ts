import type { Server } from 'node:http';
import { WEBHOOK_PATH } from '../../config/webhook-path.ts';
import type { Log } from '../../core/log.ts';
import { createBodyReader } from './body.ts';
import { type BodyLimits, createBodyShares } from './body-shares.ts';
import type { Intake } from './delivery/intake.ts';
import { type AnswerCounts, METRICS_ELSEWHERE, METRICS_PATH, metricsRoute } from './metrics-page.ts';
import { type Checks, failedChecks, publicNames, type Readiness } from './readiness.ts';
import { createReceiver } from './receive.ts';
import { engineIsSilent, notReady, REFUSALS } from './refusals.ts';
import { type Otherwise, READ, type Route, refuse, send, serveRoutes } from './routes.ts';

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

export interface PageParts {
  /** The server's own checks behind `/readyz`. */
  health: Checks;
  /** What the engine says about itself. By default, there is none, as in tests of the server alone. */
  engine?: EngineReports;
  /** The server counts its answers to webhooks here. */
  answers: AnswerCounts;
  /** If set, the metrics are served here too, to requests with this token. */
  metricsToken?: string | undefined;
  log: Log;
}

export interface ServerParts extends PageParts {
  /** The App's webhook secret. */
  secret: string;
  /** Without it, webhooks are refused. */
  intake?: Intake | undefined;
  maxBodyBytes?: number;
  /** Answers requests for other paths, such as Studio's. */
  otherwise?: Otherwise | undefined;
  /** The time for a whole request to arrive, in milliseconds. GitHub itself stops after 10 seconds. */
  requestTimeoutMs?: number;
  /** A monotonic clock in milliseconds, for the age of incomplete bodies. */
  now?: () => number;
}

/** What the HTTP server asks of the engine, which may run in another thread. */
export interface EngineReports {
  /** The engine's metrics, in the text format of Prometheus. */
  metrics(): Promise<string>;
  readiness(): Promise<Readiness>;
  /** For how long the engine's thread has not run its event loop, in milliseconds. */
  silentMs(): number;
}

/**
 * An engine that is silent for so long hangs. Its longest work without a pause, a page of a large
 * configuration, takes well under a second.
 */
const HANGS_AFTER_MS = 60_000;

const NO_ENGINE: EngineReports = {
  metrics: async () => '',
  readiness: async () => ({ failures: [], warnings: [] }),
  silentMs: () => 0,
};

/**
 * The HTTP server for webhooks and an operator's probes. It does not listen yet.
 *
 * Uses plain `node:http`. Probot's middleware with an empty handler reached 6,500 deliveries a second, plain
 * HTTP with signature check and parsing 10,000, and it keeps the signed bytes.
 */
export function createHttpServer(parts: ServerParts): Server {
  const { log, maxBodyBytes = MAX_BODY_BYTES, requestTimeoutMs = 15_000, otherwise } = parts;
  return serveRoutes(routesOf(parts, maxBodyBytes), { log, requestTimeoutMs, otherwise });
}

function routesOf(parts: ServerParts, maxBodyBytes: number): ReadonlyMap<string, Route> {
  const { intake } = parts;
  const webhooks = intake ? webhookRoute({ ...parts, intake }, maxBodyBytes) : TAKEN_ELSEWHERE;
  return new Map([[WEBHOOK_PATH, webhooks], ...pagesOf(parts)]);
}

/** The body is not read, and GitHub can send it again. */
const TAKEN_ELSEWHERE: Route = {
  methods: ['POST'],
  async handle(_request, response) {
    refuse(response, REFUSALS.webhooksElsewhere);
  },
};

function webhookRoute(
  { secret, intake, answers, log, now = () => performance.now() }: ServerParts & { intake: Intake },
  maxBodyBytes: number,
): Route {
  const receive = createReceiver({
    secret,
    intake,
    log,
    readBody: createBodyReader(maxBodyBytes, createBodyShares(bodyLimits(maxBodyBytes), now)),
  });

  return {
    methods: ['POST'],
    async handle(request, response) {
      const received = await receive(request, response);
      switch (received.kind) {
        case 'accepted':
          answers.add(202);
          return send(response, 202, { delivery: received.guid, status: received.receipt });
        case 'refused':
          answers.add(received.refusal.status);
          return refuse(response, received.refusal);
        case 'cut':
          return;
      }
    },
  };
}

/** An operator's probes and metrics, which a Probot server answers too. */
export function pagesOf({
  health,
  engine = NO_ENGINE,
  answers,
  metricsToken,
  log,
}: PageParts): Map<string, Route> {
  return new Map<string, Route>([
    [
      '/healthz',
      {
        methods: READ,
        async handle(_request, response) {
          const silentMs = engine.silentMs();
          if (silentMs > HANGS_AFTER_MS) return refuse(response, engineIsSilent(silentMs));
          send(response, 200, { status: 'up' });
        },
      },
    ],
    [
      '/readyz',
      {
        methods: READ,
        async handle(_request, response) {
          const [own, reported] = await Promise.all([failedChecks(health, log), engine.readiness()]);
          const failures = new Set([...publicNames(own), ...reported.failures]);
          if (failures.size > 0) return refuse(response, notReady([...failures]));
          const { warnings } = reported;
          // Still ready: if a proxy stopped sending here, the webhooks that the database could keep would be
          // lost.
          send(response, 200, { status: 'ready', ...(warnings.length > 0 && { warnings }) });
        },
      },
    ],
    [
      METRICS_PATH,
      metricsToken === undefined
        ? METRICS_ELSEWHERE
        : metricsRoute({ answers, engineMetrics: engine.metrics, token: metricsToken }),
    ],
  ]);
}
