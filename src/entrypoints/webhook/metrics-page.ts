import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Log } from '../../core/log.ts';
import { REFUSALS } from './refusals.ts';
import { READ, type Route, refuse, serveRoutes } from './routes.ts';

export const METRICS_PATH = '/metrics';

export interface MetricsParts {
  /** What the HTTP server counts itself. */
  metrics: Registry;
  /** The engine's page, which comes first. */
  engineMetrics?: () => Promise<string>;
  /** The token that a scraper must send as `Authorization: Bearer`. Without it, anybody can read. */
  token?: string | undefined;
}

/** Concurrent scrapers share one page, so that the cost does not depend on their number. */
export function metricsRoute({ metrics, engineMetrics = async () => '', token }: MetricsParts): Route {
  let pending: Promise<string> | undefined;
  async function page(): Promise<string> {
    try {
      return `${await engineMetrics()}${await metrics.metrics()}`;
    } finally {
      pending = undefined;
    }
  }
  const isAllowed = token === undefined ? () => true : createBearerCheck(token);
  return {
    methods: READ,
    async handle(request, response) {
      if (!isAllowed(request.headers.authorization)) return refuse(response, REFUSALS.metricsToken);
      pending ??= page();
      const text = await pending;
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
  };
}

/** Served at the metrics' path on the public port if no token is set. */
export const METRICS_ELSEWHERE: Route = {
  methods: READ,
  async handle(_request, response) {
    refuse(response, REFUSALS.metricsElsewhere);
  },
};

/** A server for the metrics only. It does not listen yet. */
export function createMetricsServer({ log, ...parts }: MetricsParts & { log: Log }): Server {
  const routes = new Map([[METRICS_PATH, metricsRoute(parts)]]);
  return serveRoutes(routes, { log, requestTimeoutMs: 5_000 });
}

/** Compares hashes: they have equal lengths, so the time reveals nothing about the token. */
function createBearerCheck(token: string): (header: string | undefined) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = hash(token);
  return (header) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
    return given !== undefined && timingSafeEqual(hash(given), expected);
  };
}
