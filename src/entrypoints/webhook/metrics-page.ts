import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Log } from '../../core/log.ts';
import { REFUSALS } from './refusals.ts';
import { READ, type Route, refuse, serveRoutes } from './routes.ts';

export const METRICS_PATH = '/metrics';

/** The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** How many webhooks were answered with each HTTP status. */
export interface AnswerCounts {
  add(status: number): void;
  /** In the text format of Prometheus. */
  page(): string;
}

/** Written by hand: for one counter, prom-client would take 2 MB of the intake thread. */
export function countAnswers(): AnswerCounts {
  const name = 'countersign_webhook_answers_total';
  const counts = new Map<number, number>();
  return {
    add: (status) => void counts.set(status, (counts.get(status) ?? 0) + 1),
    page() {
      const lines = [...counts].map(([status, count]) => `${name}{status="${status}"} ${count}\n`);
      return `# HELP ${name} Webhooks answered, by HTTP status.\n# TYPE ${name} counter\n${lines.join('')}`;
    },
  };
}

export interface MetricsParts {
  /** What the HTTP server counts itself. */
  answers: AnswerCounts;
  /** The engine's page, which comes first. */
  engineMetrics?: () => Promise<string>;
  /** The token that a scraper must send as `Authorization: Bearer`. Without it, anybody can read. */
  token?: string | undefined;
}

/** Concurrent scrapers share one page, so that the cost does not depend on their number. */
export function metricsRoute({ answers, engineMetrics = async () => '', token }: MetricsParts): Route {
  let pending: Promise<string> | undefined;
  async function page(): Promise<string> {
    try {
      return `${await engineMetrics()}${answers.page()}`;
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
      response.writeHead(200, { 'content-type': CONTENT_TYPE }).end(text);
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
