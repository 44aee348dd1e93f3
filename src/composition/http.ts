import type { Server } from 'node:http';
import { messageOf } from '../core/errors.ts';
import type { OutagePolicy } from '../engine/jobs/outage-policy.ts';
import { createIntake } from '../entrypoints/webhook/delivery/intake.ts';
import { close, listen } from '../entrypoints/webhook/listen.ts';
import { createMetricsServer } from '../entrypoints/webhook/metrics-page.ts';
import { MERGING_IS_OFF, signInWaits } from '../entrypoints/webhook/refusals.ts';
import { createHttpServer } from '../entrypoints/webhook/server.ts';
import { noMetrics } from '../messages/process.ts';
import type { Platform } from './platform.ts';

export interface Listening {
  /** Where webhooks are taken in. */
  url: string;
  /** Where the metrics have a port of their own. */
  metricsUrl: string | undefined;
  /** Takes no more requests, and waits for those that are being answered. */
  close(): Promise<void>;
}

/**
 * Listens for webhooks, and for whoever reads the metrics.
 * @throws CountersignError when a port that the operator named is taken; nothing listens then.
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

/** A port that nobody asked for keeps nothing from starting when it is taken. */
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
