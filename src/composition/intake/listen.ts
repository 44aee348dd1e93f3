import type { Server } from 'node:http';
import type { AppConfig } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { createIntake, type Recorder } from '../../entrypoints/webhook/delivery/intake.ts';
import { close, listen } from '../../entrypoints/webhook/listen.ts';
import { countAnswers, createMetricsServer } from '../../entrypoints/webhook/metrics-page.ts';
import { createHttpServer, type EngineReports } from '../../entrypoints/webhook/server.ts';
import { noMetrics } from '../../messages/cli/process.ts';
import type { StudioGate } from '../studio/gate.ts';

export interface Listening {
  /** The address for webhooks. */
  url: string;
  /** The address for metrics, if they have a port of their own. */
  metricsUrl: string | undefined;
  /** Stops accepting requests and waits for those under way. */
  close(): Promise<void>;
}

/** Where and how to listen. */
export type IntakeSettings = Pick<AppConfig, 'host' | 'port' | 'webhookSecret' | 'metricsAccess'>;

export interface IntakeParts {
  /** Without it, webhooks are refused: another process of the App takes them. */
  recorder?: Recorder | undefined;
  /** Rejects with a sentence if nothing can be recorded. */
  check(): Promise<void>;
  engine: EngineReports;
  /** Called after each commit of new deliveries. */
  onRecorded?(): void;
  /** Without it, there is no browser interface. */
  studio?: StudioGate | undefined;
  clock: Clock;
  log: Log;
}

/**
 * Listens for webhooks, probes and scrapers of the metrics. Needs nothing of the engine but its reports, so it
 * can run in any thread.
 * @throws CountersignError if a port that the operator chose is taken; then nothing listens
 */
export async function listenForRequests(
  { webhookSecret, metricsAccess, ...address }: IntakeSettings,
  { recorder, check, engine, onRecorded, studio, clock, log }: IntakeParts,
): Promise<Listening> {
  const answers = countAnswers();
  const { own, token } = metricsAccess;
  const server = createHttpServer({
    secret: webhookSecret,
    intake: recorder && createIntake({ recorder, ...(onRecorded && { onRecorded }), clock }),
    health: { database: check },
    engine,
    answers,
    metricsToken: token,
    otherwise: studio?.answer,
    log,
  });
  const ownMetrics =
    own && (await listenForMetrics(own, { answers, engineMetrics: engine.metrics, token, log }));
  try {
    const url = await listen(server, address);
    const servers = [server, ...(ownMetrics ? [ownMetrics.server] : [])];
    return {
      url,
      metricsUrl: ownMetrics?.url,
      async close() {
        // Its streams of live updates would keep the server open.
        await studio?.close();
        await Promise.all(servers.map(close));
      },
    };
  } catch (error) {
    if (ownMetrics) await close(ownMetrics.server);
    throw error;
  }
}

/** If the default metrics port is taken, the app starts without it. */
export async function listenForMetrics(
  own: NonNullable<IntakeSettings['metricsAccess']['own']>,
  parts: Parameters<typeof createMetricsServer>[0],
): Promise<{ server: Server; url: string } | undefined> {
  const server = createMetricsServer(parts);
  try {
    return { server, url: await listen(server, own) };
  } catch (error) {
    if (own.isGiven) throw error;
    parts.log.warn({}, noMetrics(messageOf(error)));
    return undefined;
  }
}
