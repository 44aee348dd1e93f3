import { buildEngine } from './composition/engine.ts';
import { listenForRequests } from './composition/http.ts';
import { buildJobs } from './composition/jobs.ts';
import { openPlatform, type PlatformOverrides } from './composition/platform.ts';
import { createSkills, type SkillOverrides } from './composition/skills.ts';
import type { AppConfig } from './config/config.ts';
import type { Log } from './core/log.ts';
import { neverShow } from './core/redact/redact.ts';
import { createOutagePolicy } from './engine/jobs/outage-policy.ts';
import { workerOf } from './engine/jobs/worker.ts';
import { firstRecoveryJobs } from './entrypoints/recovery/jobs.ts';
import { retentionJob } from './entrypoints/retention/retention.ts';
import { jobsOfNewDeliveries } from './entrypoints/webhook/delivery/new-jobs.ts';
import { MERGING_IS_OFF } from './entrypoints/webhook/refusals.ts';
import type { Queue } from './ports/queue.ts';
import type { Storage } from './ports/storage.ts';

export interface App {
  /** The address for webhooks. */
  url: string;
  /** The address for metrics, if they have a port of their own. */
  metricsUrl: string | undefined;
  storage: Storage;
  queue: Queue;
  /** Stops accepting webhooks, waits for the work under way, and closes the database. */
  stop(): Promise<void>;
}

/** Replacements for tests. */
export interface AppOverrides extends PlatformOverrides, SkillOverrides {}

/**
 * The time for work under way to end, in milliseconds. With what follows it, shutdown must fit the 10 s that
 * supervisors allow.
 */
export const DRAIN_MS = 7_000;

/** Starts the app, composed from its parts. */
export async function startApp(config: AppConfig, givenLog: Log, overrides: AppOverrides = {}): Promise<App> {
  hideSecrets(config);
  const platform = await openPlatform(config, givenLog, overrides);
  const { storage, queue, metrics, clock, log } = platform;
  const mergingIsOff = config.merging === 'off';
  if (mergingIsOff) log.warn({}, MERGING_IS_OFF);
  metrics.merging(!mergingIsOff);

  const skills = await createSkills(config, platform, overrides);
  const parts = buildEngine(platform, skills);
  const outagePolicy = createOutagePolicy(platform);
  queue.start({
    ...workerOf(buildJobs(platform, parts), { outagePolicy }),
    pendingJobs: jobsOfNewDeliveries,
  });
  await storage.transaction(async (tx) => {
    await queue.enqueue(tx, ...firstRecoveryJobs(clock.now()));
    if (platform.retention) await queue.enqueue(tx, retentionJob(clock.now()));
  });

  const listening = await listenForRequests(platform, outagePolicy).catch(async (error: unknown) => {
    await queue.stop(0);
    await storage.close();
    throw error;
  });
  return {
    url: listening.url,
    metricsUrl: listening.metricsUrl,
    storage,
    queue,
    async stop() {
      await Promise.all([listening.close(), queue.stop(DRAIN_MS)]);
      await skills.stop();
      await storage.close();
    },
  };
}

function hideSecrets({ privateKey, webhookSecret, metricsAccess, model }: AppConfig): void {
  neverShow('private key', privateKey);
  neverShow('webhook secret', webhookSecret);
  if (metricsAccess.token) neverShow('metrics token', metricsAccess.token);
  if (model?.apiKey) neverShow('model key', model.apiKey);
}
