import type { MessagePort } from 'node:worker_threads';
import { type AppKey, type OctokitSource, octokitsWithKey } from './adapters/octokit/sign-in.ts';
import { buildEngine } from './composition/engine.ts';
import { connectIntake, type IntakePlace, startIntake } from './composition/intake/start.ts';
import { buildJobs } from './composition/jobs.ts';
import { openPlatform, type Platform, type PlatformOverrides } from './composition/platform.ts';
import type { Turn } from './composition/serving.ts';
import { createSkills, type SkillOverrides } from './composition/skills.ts';
import type { AppConfig, BaseConfig } from './config/config.ts';
import { CountersignError, messageOf } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { neverShow } from './core/redact/redact.ts';
import { createOutagePolicy, type OutagePolicy } from './engine/jobs/outage-policy.ts';
import { workerOf } from './engine/jobs/worker.ts';
import { evaluationJob } from './engine/runs/schedules.ts';
import { firstRecoveryJobs } from './entrypoints/recovery/jobs.ts';
import { bodyJob } from './entrypoints/retention/pack-bodies.ts';
import { retentionJob } from './entrypoints/retention/retention.ts';
import { jobsOfNewDeliveries } from './entrypoints/webhook/delivery/new-jobs.ts';
import { MERGING_IS_OFF } from './entrypoints/webhook/refusals.ts';
import { ENGINE_STARTS_LATER, engineDidNotStart } from './messages/cli/process.ts';
import type { Queue } from './ports/queue.ts';
import type { Storage } from './ports/storage.ts';
import type { WorkShare } from './ports/work-share.ts';
import { indexCheckJob } from './skills/catalogue/sync/check.ts';

/** The app without the server that receives its deliveries. */
interface Running {
  storage: Storage;
  queue: Queue;
  /** Stops accepting webhooks, waits for the work under way, and closes the database. */
  stop(): Promise<void>;
}

export interface App extends Running {
  /** The address for webhooks. */
  url: string;
  /** The address for metrics, if they have a port of their own. */
  metricsUrl: string | undefined;
}

type EngineOverrides = PlatformOverrides & SkillOverrides;

/** Replacements for tests. */
export interface AppOverrides extends EngineOverrides {
  intake?: IntakePlace;
}

/**
 * The time for work under way to end, in milliseconds. With what follows it, shutdown must fit the 10 s that
 * supervisors allow.
 */
export const DRAIN_MS = 7_000;

/** Between two attempts to begin the work, in milliseconds. */
const BEGUN_AGAIN_MS = 1_000;

/** What a process that shares its database with others does when its turn to work comes. */
interface Sharing {
  turn: Turn;
  /** Called if the engine could not start then. */
  onFailed(): void;
}

/**
 * Starts the app with a server of its own, composed from its parts.
 * @param sharing without it, the engine starts at once
 */
export async function startApp(
  config: AppConfig,
  log: Log,
  overrides: AppOverrides = {},
  sharing?: Sharing,
): Promise<App> {
  const secrets = secretsOf(config);
  const key: AppKey = { ...config, apiUrl: config.githubApiUrl };
  const { intake, running } = await start(
    config,
    { secrets, source: octokitsWithKey(key), log, overrides, ...(sharing && { sharing }) },
    (platform, outagePolicy) =>
      startIntake(platform, outagePolicy, {
        config,
        secrets,
        place: overrides.intake,
        whyNotWorking: () => sharing?.turn.whyNot(),
      }),
  );
  return { url: intake.url, metricsUrl: intake.metricsUrl, ...running };
}

/** Starts the engine for an intake that is in the thread which started this one. */
export async function startHostedEngine(
  config: BaseConfig,
  {
    key,
    source,
    intake,
  }: { key: AppKey; source: OctokitSource; intake: { inboxPath: string; port: MessagePort } },
  log: Log,
): Promise<Running> {
  const secrets = { 'private key': key.privateKey, ...settingsSecretsOf(config) };
  const { running } = await start(config, { secrets, source, log, overrides: {} }, (platform, outagePolicy) =>
    connectIntake(platform, outagePolicy, intake),
  );
  return running;
}

async function start<Intake extends { close(): Promise<void> }>(
  config: BaseConfig,
  {
    secrets,
    source,
    log: givenLog,
    overrides,
    sharing,
  }: { secrets: Secrets; source: OctokitSource; log: Log; overrides: EngineOverrides; sharing?: Sharing },
  openIntake: (platform: Platform, outagePolicy: OutagePolicy) => Promise<Intake>,
): Promise<{ intake: Intake; running: Running }> {
  for (const [name, value] of Object.entries(secrets)) neverShow(name, value);
  const platform = await openPlatform(config, source, givenLog, overrides, sharing?.turn.share);
  const { storage, queue, metrics, log } = platform;
  const mergingIsOff = config.merging === 'off';
  if (mergingIsOff) log.warn({}, MERGING_IS_OFF);
  metrics.merging(!mergingIsOff);

  const outagePolicy = createOutagePolicy(platform);
  const intake = await openIntake(platform, outagePolicy).catch(async (error: unknown) => {
    await storage.close();
    throw error;
  });
  try {
    const share = sharing?.turn.share;
    const begin = (isOver: () => boolean) =>
      startEngine(platform, outagePolicy, { overrides, share, isOver });
    const engine = sharing
      ? inItsTurn(sharing, begin, log)
      : { settle: async () => {}, ...(await begin(() => true)) };
    const running: Running = {
      storage,
      queue,
      async stop() {
        await engine.settle();
        await Promise.all([intake.close(), queue.stop(DRAIN_MS)]);
        await platform.tracer?.stop();
        await engine.stop();
        await storage.close();
      },
    };
    return { intake, running };
  } catch (error) {
    await Promise.all([intake.close(), queue.stop(0)]);
    await storage.close();
    throw error;
  }
}

/** The engine of a process whose turn to work comes later, if ever. */
function inItsTurn(
  { turn, onFailed }: Sharing,
  begin: (isOver: () => boolean) => Promise<{ stop(): Promise<void> }>,
  log: Log,
): { settle(): Promise<void>; stop(): Promise<void> } {
  let isStopping = false;
  let begun: Promise<{ stop(): Promise<void> } | undefined> | undefined;
  void turn.comes.then(() => {
    if (isStopping) return;
    begun = begin(() => isStopping).catch((err: unknown) => {
      if (isStopping) return undefined;
      log.error({ err }, engineDidNotStart(messageOf(err)));
      onFailed();
      return undefined;
    });
  });
  return {
    /** It does not begin any more, or has begun. */
    async settle() {
      isStopping = true;
      await begun;
    },
    async stop() {
      await (await begun)?.stop();
    },
  };
}

/** @param isOver whether a database that cannot be written to now is a reason to give up */
async function startEngine(
  platform: Platform,
  outagePolicy: OutagePolicy,
  {
    overrides,
    share,
    isOver,
  }: { overrides: SkillOverrides; share: WorkShare | undefined; isOver(): boolean },
): Promise<{ stop(): Promise<void> }> {
  const { config, storage, queue, clock } = platform;
  const skills = await createSkills(config, platform, overrides);
  const parts = buildEngine(platform, skills);
  const stopFollowing = share ? parts.followOthers(share) : () => {};
  queue.start({
    ...workerOf(buildJobs(platform, parts), { outagePolicy }),
    pendingJobs: jobsOfNewDeliveries,
  });
  const first = [
    ...firstRecoveryJobs(clock.now()),
    bodyJob(clock.now()),
    evaluationJob(clock.now()),
    ...(config.skillIndexes ? [indexCheckJob(clock.now())] : []),
    ...(platform.retention ? [retentionJob(clock.now())] : []),
  ];
  await outlasting(() => storage.transaction((tx) => queue.enqueue(tx, ...first)), platform, isOver);
  return {
    async stop() {
      stopFollowing();
      await skills.stop();
    },
  };
}

/**
 * Repeats it while the database cannot be written to. Where processes share one, any of them may hold the lock of all that write for
 * longer than a transaction waits, and a process that was started in place of this one would meet that, too.
 */
async function outlasting(
  work: () => Promise<void>,
  { log, timers }: Pick<Platform, 'log' | 'timers'>,
  isOver: () => boolean,
): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const mayPass = error instanceof CountersignError && error.code === 'storage.unavailable';
      if (!mayPass || isOver()) throw error;
      log.warn({ err: messageOf(error), outage: 'start' }, ENGINE_STARTS_LATER);
      await timers.sleep(BEGUN_AGAIN_MS);
    }
  }
}

/** By the name that redaction shows. */
type Secrets = Readonly<Record<string, string>>;

function secretsOf({ privateKey, webhookSecret, ...config }: AppConfig): Secrets {
  return { 'private key': privateKey, 'webhook secret': webhookSecret, ...settingsSecretsOf(config) };
}

function settingsSecretsOf({ metricsAccess, model, chat, tracing }: BaseConfig): Secrets {
  const webhooks = [...(chat?.webhooks ?? [])].flatMap(([name, address]): [string, string][] => {
    const { pathname, search } = new URL(address);
    // The path alone is enough to post.
    return [
      [`webhook ${name}`, address],
      [`path of the webhook ${name}`, `${pathname}${search}`],
    ];
  });
  const keys = [...(chat?.secrets ?? [])].map(([name, secret]) => [`key of the webhook ${name}`, secret]);
  const headers = Object.entries(tracing?.headers ?? {}).flatMap(([name, value]): [string, string][] => [
    [`header ${name} of traces`, value],
    // Without the word before it, such as Bearer.
    [`value of the header ${name} of traces`, value.replace(/^\w+ /, '')],
  ]);
  return {
    ...Object.fromEntries([...webhooks, ...keys, ...headers]),
    ...(metricsAccess.token !== undefined && { 'metrics token': metricsAccess.token }),
    ...(model?.apiKey !== undefined && { 'model key': model.apiKey }),
  };
}
