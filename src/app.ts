import { buildEngine } from './composition/engine.ts';
import { type IntakePlace, startIntake } from './composition/intake/start.ts';
import { buildJobs } from './composition/jobs.ts';
import { openPlatform, type Platform, type PlatformOverrides } from './composition/platform.ts';
import { createSkills, type SkillOverrides } from './composition/skills.ts';
import type { AppConfig } from './config/config.ts';
import type { Log } from './core/log.ts';
import { neverShow } from './core/redact/redact.ts';
import { createOutagePolicy, type OutagePolicy } from './engine/jobs/outage-policy.ts';
import { workerOf } from './engine/jobs/worker.ts';
import { firstRecoveryJobs } from './entrypoints/recovery/jobs.ts';
import { bodyJob } from './entrypoints/retention/pack-bodies.ts';
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
export interface AppOverrides extends PlatformOverrides, SkillOverrides {
  intake?: IntakePlace;
}

/**
 * The time for work under way to end, in milliseconds. With what follows it, shutdown must fit the 10 s that
 * supervisors allow.
 */
export const DRAIN_MS = 7_000;

/** Starts the app, composed from its parts. */
export async function startApp(config: AppConfig, givenLog: Log, overrides: AppOverrides = {}): Promise<App> {
  const secrets = secretsOf(config);
  for (const [name, value] of Object.entries(secrets)) neverShow(name, value);
  const platform = await openPlatform(config, givenLog, overrides);
  const { storage, queue, metrics, log } = platform;
  const mergingIsOff = config.merging === 'off';
  if (mergingIsOff) log.warn({}, MERGING_IS_OFF);
  metrics.merging(!mergingIsOff);

  const outagePolicy = createOutagePolicy(platform);
  const listening = await startIntake(platform, outagePolicy, { secrets, place: overrides.intake }).catch(
    async (error: unknown) => {
      await storage.close();
      throw error;
    },
  );
  try {
    const skills = await startEngine(platform, outagePolicy, overrides);
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
  } catch (error) {
    await Promise.all([listening.close(), queue.stop(0)]);
    await storage.close();
    throw error;
  }
}

async function startEngine(
  platform: Platform,
  outagePolicy: OutagePolicy,
  overrides: SkillOverrides,
): ReturnType<typeof createSkills> {
  const { config, storage, queue, clock } = platform;
  const skills = await createSkills(config, platform, overrides);
  const parts = buildEngine(platform, skills);
  queue.start({
    ...workerOf(buildJobs(platform, parts), { outagePolicy }),
    pendingJobs: jobsOfNewDeliveries,
  });
  await storage.transaction(async (tx) => {
    await queue.enqueue(tx, ...firstRecoveryJobs(clock.now()), bodyJob(clock.now()));
    if (platform.retention) await queue.enqueue(tx, retentionJob(clock.now()));
  });
  return skills;
}

/** The secrets of the settings, by the name that redaction shows. */
function secretsOf({ privateKey, webhookSecret, metricsAccess, model }: AppConfig): Record<string, string> {
  return {
    'private key': privateKey,
    'webhook secret': webhookSecret,
    ...(metricsAccess.token !== undefined && { 'metrics token': metricsAccess.token }),
    ...(model?.apiKey !== undefined && { 'model key': model.apiKey }),
  };
}
