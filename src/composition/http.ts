import type { Server } from 'node:http';
import { messageOf } from '../core/errors.ts';
import type { OutagePolicy } from '../engine/jobs/outage-policy.ts';
import { createIntake } from '../entrypoints/webhook/delivery/intake.ts';
import { close, listen } from '../entrypoints/webhook/listen.ts';
import { createMetricsServer } from '../entrypoints/webhook/metrics-page.ts';
import { MERGING_IS_OFF, signInWaits } from '../entrypoints/webhook/refusals.ts';
import { createHttpServer } from '../entrypoints/webhook/server.ts';
import { noMetrics } from '../messages/cli/process.ts';
import type { Platform } from './platform.ts';

export interface Listening {
  /** The address for webhooks. */
  url: string;
  /** The address for metrics, if they have a port of their own. */
  metricsUrl: string | undefined;
  /** Stops accepting requests and waits for those under way. */
  close(): Promise<void>;
}

/**
 * Listens for webhooks and for scrapers of the metrics.
 * @throws CountersignError if a port that the operator chose is taken; then nothing listens
 */
export async function listenForRequests(platform: Platform, outagePolicy: OutagePolicy): Promise<Listening> {
  const { config, storage, queue, github, metrics, clock, log } = platform;
  const metricsPage = {
    metrics: metrics.registry,
    collectMetrics: () =>
      metrics.collect({
        storage,
        clock,
        log,
        rateLimits: github.rateLimits,
        signedOut: github.signedOut,
        waitingForGitHub: outagePolicy.waiting,
      }),
  };
  const isOff = config.merging === 'off';
  const server = createHttpServer({
    secret: config.webhookSecret,
    intake: createIntake({ storage, queue, clock }),
    health: { database: () => storage.check() },
    warnings: () => [...(isOff ? [MERGING_IS_OFF] : []), ...github.signedOut().map(signInWaits)],
    ...metricsPage,
    metricsToken: config.metricsAccess.token,
    log,
  });
  const { own, token } = config.metricsAccess;
  const ownMetrics = own && (await listenForMetrics(own, { ...metricsPage, token, log }));
  try {
    const url = await listen(server, config);
    const servers = [server, ...(ownMetrics ? [ownMetrics.server] : [])];
    return {
      url,
      metricsUrl: ownMetrics?.url,
      close: async () => void (await Promise.all(servers.map(close))),
    };
  } catch (error) {
    if (ownMetrics) await close(ownMetrics.server);
    throw error;
  }
}

/** If the default metrics port is taken, the app starts without it. */
async function listenForMetrics(
  own: NonNullable<Platform['config']['metricsAccess']['own']>,
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
