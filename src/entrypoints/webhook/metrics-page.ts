import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Log } from '../../core/log.ts';
import { READ, type Route, refuse, serveRoutes } from './routes.ts';
import { REFUSALS } from './words.ts';

export const METRICS_PATH = '/metrics';

export interface MetricsParts {
  metrics: Registry;
  /** Brings it up to date before it is shown. */
  collectMetrics?: () => Promise<void>;
  /** What whoever asks has to send as `Authorization: Bearer`; nothing when left out. */
  token?: string | undefined;
}

/** Scrapers that ask at the same time share one page: what it costs must not depend on how many there are. */
export function metricsRoute({ metrics, collectMetrics, token }: MetricsParts): Route {
  let underWay: Promise<string> | undefined;
  async function page(): Promise<string> {
    try {
      await collectMetrics?.();
      return await metrics.metrics();
    } finally {
      underWay = undefined;
    }
  }
  const isAllowed = token === undefined ? () => true : createBearerCheck(token);
  return {
    methods: READ,
    async handle(request, response) {
      if (!isAllowed(request.headers.authorization)) return refuse(response, REFUSALS.metricsToken);
      underWay ??= page();
      const text = await underWay;
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
  };
}

/** In the place of the metrics, on a port that everybody reaches. */
export const METRICS_ELSEWHERE: Route = {
  methods: READ,
  async handle(_request, response) {
    refuse(response, REFUSALS.metricsElsewhere);
  },
};

/** A server for the metrics alone. It does not listen yet. */
export function createMetricsServer({ log, ...parts }: MetricsParts & { log: Log }): Server {
  const routes = new Map([[METRICS_PATH, metricsRoute(parts)]]);
  return serveRoutes(routes, { log, requestTimeoutMs: 5_000 });
}

/** Compares hashes, which are of one length and tell nothing of the token by the time that it takes. */
function createBearerCheck(token: string): (header: string | undefined) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = hash(token);
  return (header) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
    return given !== undefined && timingSafeEqual(hash(given), expected);
  };
}
