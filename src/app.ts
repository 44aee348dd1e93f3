import type { Server } from 'node:http';
import { createEmbeddedQueue } from './adapters/embedded-queue/embedded.ts';
import { createOutagePolicy } from './adapters/embedded-queue/outage-policy.ts';
import { createOctokitGitHub, type OctokitGitHubOptions } from './adapters/octokit/octokit-github.ts';
import { shippedChains, shippedSkills } from './composition/shipped.ts';
import { createSkills, type SkillOverrides } from './composition/skills.ts';
import { openBlobs, openStorage } from './composition/storage.ts';
import { type AppConfig, gitHubPages } from './config/config.ts';
import type { MetricsAccess } from './config/metrics.ts';
import { type Clock, systemClock, systemTimers, type Timers } from './core/clock.ts';
import { messageOf } from './core/errors.ts';
import { type Ids, timeSortedIds } from './core/ids.ts';
import { type Log, redactedLog } from './core/log.ts';
import { withoutRepeats } from './core/outage-log.ts';
import { neverShow } from './core/redact/redact.ts';
import type { Event, EventOf } from './domain/event/event.ts';
import type { Cause } from './domain/run/actor.ts';
import { createConfigurationLoader } from './engine/configuration/configuration.ts';
import { createOrganisationMemory } from './engine/configuration/organisation-memory.ts';
import { createGateChecks } from './engine/effects/gate-check.ts';
import { createOutbox, effectJobSchema } from './engine/effects/outbox.ts';
import { createPerformer } from './engine/effects/perform.ts';
import { createWriteLimiter } from './engine/effects/write-limiter.ts';
import { createEngine, type Engine } from './engine/runs/engine.ts';
import { onEvent } from './engine/runs/on-event.ts';
import { createPublisher } from './engine/runs/publish.ts';
import { createSessionArtifacts } from './engine/sessions/artifacts.ts';
import { createContextOf } from './engine/sessions/context.ts';
import { createExecutor } from './engine/sessions/execute.ts';
import { createMergeGroups, mergeGroupJobSchema } from './engine/sessions/merge-group.ts';
import { createCommandHandler } from './entrypoints/commands/handle.ts';
import { recoveryJobs } from './entrypoints/recovery/jobs.ts';
import { fetchMissedDeliveries, POLL_EVERY_MS } from './entrypoints/recovery/missed-deliveries.ts';
import {
  passOver,
  reconcile,
  reconcileInstallationJob,
  reconcileJobSchema,
} from './entrypoints/recovery/reconcile.ts';
import { type RetentionPeriods, retain, retentionJob } from './entrypoints/retention/retention.ts';
import { createIntake } from './entrypoints/webhook/delivery/intake.ts';
import { jobsOfNewDeliveries } from './entrypoints/webhook/delivery/new-jobs.ts';
import { createProcessor } from './entrypoints/webhook/delivery/process.ts';
import { close, listen } from './entrypoints/webhook/listen.ts';
import { createMetrics } from './entrypoints/webhook/metrics.ts';
import { createMetricsServer } from './entrypoints/webhook/metrics-page.ts';
import { createHttpServer } from './entrypoints/webhook/server.ts';
import { MERGING_IS_OFF, signInWaits } from './entrypoints/webhook/words.ts';
import { noMetrics } from './messages/process.ts';
import type { Blobs } from './ports/blobs.ts';
import {
  eventJobSchema,
  type Job,
  type JobHandler,
  type JobKind,
  type Queue,
  signalJobSchema,
} from './ports/queue.ts';
import type { Storage } from './ports/storage.ts';
import { askJobSchema, createAsk } from './skills/ask/ask.ts';
import { createSkillKeeper } from './skills/catalogue/keep.ts';
import { communitySkills } from './skills/catalogue/sync/community.ts';

export interface App {
  /** Where it listens. */
  url: string;
  /** Where the metrics have a port of their own. */
  metricsUrl: string | undefined;
  storage: Storage;
  queue: Queue;
  /** Takes no more webhooks, lets what is under way end, and closes the database. */
  stop(): Promise<void>;
}

/** What tests put in the place of the real thing. */
export interface AppOverrides extends SkillOverrides {
  clock?: Clock;
  /** By which the app waits for a locked database. */
  timers?: Timers;
  ids?: Ids;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  github?: Pick<OctokitGitHubOptions, 'timeoutMs' | 'mergeTimeoutMs' | 'pointsPerMinute'>;
  /** Stands between the app and its database. */
  storage?: (real: Storage) => Storage;
  /** Stands between the app and its store of large artifacts. */
  blobs?: (real: Blobs) => Blobs;
}

/** What is under way has so many milliseconds to end: with what follows, it must be less than the 10 s that supervisors give. */
export const DRAIN_MS = 7_000;

/** Builds everything by hand, starts it, and hands back what stops it. */
export async function startApp(config: AppConfig, givenLog: Log, overrides: AppOverrides = {}): Promise<App> {
  neverShow('private key', config.privateKey);
  neverShow('webhook secret', config.webhookSecret);
  if (config.metricsAccess.token) neverShow('metrics token', config.metricsAccess.token);
  if (config.model?.apiKey) neverShow('model key', config.model.apiKey);
  const clock = overrides.clock ?? systemClock;
  const log = withoutRepeats(redactedLog(givenLog), clock);
  const ids = overrides.ids ?? timeSortedIds(() => clock.now());
  const realStorage = await openStorage(config.databaseUrl, {
    clock,
    timers: overrides.timers ?? systemTimers,
  });
  const storage = overrides.storage?.(realStorage) ?? realStorage;
  const realBlobs = openBlobs(config.artifactsUrl, config.s3);
  const blobs = overrides.blobs?.(realBlobs) ?? realBlobs;
  const metrics = createMetrics();
  const mergingOff = config.merging === 'off';
  if (mergingOff) log.warn({}, MERGING_IS_OFF);
  metrics.merging(!mergingOff);
  const github = createOctokitGitHub({
    appId: config.appId,
    privateKey: config.privateKey,
    apiUrl: config.githubApiUrl,
    log,
    clock,
    metrics,
    ...overrides.github,
  });
  const random = overrides.random ?? Math.random;
  const queue = createEmbeddedQueue({
    storage,
    clock,
    log,
    random,
  });

  const outbox = createOutbox({ queue, ids });
  const gates = createGateChecks({ storage, github, queue, outbox, clock });
  const performer = createPerformer({ storage, github, clock, log, limiter: createWriteLimiter() });
  const skills = await createSkills(config, { storage, blobs, github, clock }, overrides);
  const { registry, activation } = skills;
  const names = { skills: registry.skills, actions: registry.actions };
  const skillDefaults = { artifactDefaults: registry.artifactDefaultsOf, produces: registry.producesOf };
  const keepSkill = createSkillKeeper({ storage, clock });
  const configuration = createConfigurationLoader({
    github,
    clock,
    names,
    shipped: shippedChains(names),
    shippedSkills: shippedSkills(),
    communitySkills: communitySkills(storage.read.skills),
    keepSkill,
    memory: createOrganisationMemory(storage, clock),
  });
  const ask = createAsk({
    storage,
    github,
    configuration,
    keepSkill,
    activation,
    outbox,
    clock,
    ids,
    log,
  });
  const contextOf = createContextOf({
    storage,
    github,
    gates,
    configuration,
    ...skillDefaults,
    mergingOff,
    clock,
    ids,
    log,
  });
  const executor = createExecutor({
    storage,
    github,
    queue,
    artifacts: createSessionArtifacts({ blobs, clock, ids }),
    contextOf,
    outbox,
    engine: (): Engine => engine,
    registry,
    clock,
    log,
  });
  const engine = createEngine({
    queue,
    ...skillDefaults,
    publisher: createPublisher({
      outbox,
      gates,
      clock,
      pages: { github: gitHubPages(config.githubApiUrl) },
    }),
    clock,
    ids,
    log,
    onAbort: executor.abort,
  });
  const onCommand = createCommandHandler({
    storage,
    queue,
    github,
    engine,
    outbox,
    configuration,
    clock,
    ids,
    log,
  });
  const groups = createMergeGroups({
    storage,
    github,
    queue,
    gates,
    configuration,
    contextOf,
    judgeStep: registry.judgeMerge,
    clock,
    log,
  });
  const eventDeps = {
    storage,
    github,
    engine,
    outbox,
    gates,
    configuration,
    clock,
    ids,
    log,
    onMergeGroup: groups.on,
    onInstallationBack: ({ installation_id: id }: EventOf<'installation.back'>) =>
      storage.transaction((tx) => queue.enqueue(tx, reconcileInstallationJob(id))),
    onCommand,
  };
  const onAnyEvent = (event: Event, cause: Cause | null) => onEvent(eventDeps, event, cause);
  const processor = createProcessor({ storage, appId: config.appId, clock, log, onEvent: onAnyEvent });
  const reconcileDeps = { storage, queue, github, clock, log };
  const pollForMissed = (at: Date) => storage.transaction((tx) => queue.enqueue(tx, ...recoveryJobs(at)));

  const periods = periodsOf(config);
  const beginRetention = async () => {
    if (periods !== undefined)
      await storage.transaction((tx) => queue.enqueue(tx, retentionJob(clock.now())));
  };

  const handlers: Record<JobKind, JobHandler> = {
    delivery: (job) => processor.process(numberIn(job, 'deliveryId')),
    async event(job) {
      await onAnyEvent(eventJobSchema.parse(job.payload).event, null);
      return { kind: 'done' };
    },
    async signal(job) {
      const { runId, signal, by } = signalJobSchema.parse(job.payload);
      await storage.transaction((tx) => engine.signal(tx, runId, signal, by));
      return { kind: 'done' };
    },
    session: (job, signal) => {
      const because = textIn(job, 'because') === 'time' ? 'time' : 'event';
      return executor.execute(textIn(job, 'sessionId'), because, signal);
    },
    async wake(job) {
      const runId = textIn(job, 'runId');
      await storage.transaction((tx) => engine.signal(tx, runId, { kind: 'time' }, { kind: 'time' }));
      return { kind: 'done' };
    },
    effect(job) {
      const { key, cause } = effectJobSchema.parse(job.payload);
      return performer.perform(key, cause);
    },
    merge_group: (job, signal) => groups.judge(mergeGroupJobSchema.parse(job.payload), signal),
    ask: (job, signal) => ask.answer(askJobSchema.parse(job.payload), signal),
    missed_deliveries: (_, signal) => fetchMissedDeliveries({ storage, app: github.app, clock, log }, signal),
    reconcile: (job, signal) => reconcile(reconcileDeps, reconcileJobSchema.parse(job.payload), signal),
    async retention(_, signal) {
      if (periods === undefined) return { kind: 'done' };
      return retain({ storage, blobs, github, clock, log, periods }, signal);
    },
  };
  const outagePolicy = createOutagePolicy({ clock, log, random });
  const onRetriesExhausted = async (job: Job, error: unknown) => {
    switch (job.kind) {
      case 'delivery':
        return processor.onRetriesExhausted(numberIn(job, 'deliveryId'), error);
      case 'session':
        return executor.onRetriesExhausted(textIn(job, 'sessionId'), error);
      case 'effect':
        return performer.onRetriesExhausted(effectJobSchema.parse(job.payload).key, error);
      case 'ask':
        log.error({ job: job.kind, key: job.key, err: error }, 'gave up on answering a question');
        return ask.onRetriesExhausted(askJobSchema.parse(job.payload));
      case 'merge_group':
        return groups.onRetriesExhausted(mergeGroupJobSchema.parse(job.payload), error);
      case 'missed_deliveries':
      case 'reconcile':
        log.error({ job: job.kind, key: job.key, err: error }, 'gave up on looking for what was missed');
        if (job.kind === 'reconcile') await passOver(reconcileDeps, reconcileJobSchema.parse(job.payload));
        return pollForMissed(new Date(clock.now().getTime() + POLL_EVERY_MS));
      case 'retention':
        log.error(
          { job: job.kind, err: error },
          'gave up on deleting what is over for long; tried again later',
        );
        return beginRetention();
      case 'event':
      case 'signal':
      case 'wake':
        log.error({ job: job.kind, key: job.key, err: error }, 'gave up on a job');
    }
  };
  queue.start({
    handlers: outagePolicy.patient(handlers),
    onRetriesExhausted,
    async onInterrupted(tx, job) {
      if (job.kind === 'effect') await performer.onInterrupted(tx, effectJobSchema.parse(job.payload).key);
    },
    pendingJobs: jobsOfNewDeliveries,
  });

  await pollForMissed(clock.now());
  await beginRetention();

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
  const server = createHttpServer({
    secret: config.webhookSecret,
    intake: createIntake({ storage, queue, clock }),
    health: { database: () => storage.check() },
    warnings: () => [...(mergingOff ? [MERGING_IS_OFF] : []), ...github.signedOut().map(signInWaits)],
    ...metricsPage,
    metricsToken: config.metricsAccess.token,
    log,
  });
  let url: string;
  let ownMetrics: Awaited<ReturnType<typeof listenForMetrics>>;
  try {
    ownMetrics = await listenForMetrics(config.metricsAccess.own, {
      ...metricsPage,
      token: config.metricsAccess.token,
      log,
    });
    url = await listen(server, config);
  } catch (error) {
    if (ownMetrics) await close(ownMetrics.server);
    await queue.stop(0);
    await storage.close();
    throw error;
  }

  return {
    url,
    metricsUrl: ownMetrics?.url,
    storage,
    queue,
    async stop() {
      const servers = [server, ...(ownMetrics ? [ownMetrics.server] : [])];
      await Promise.all([...servers.map(close), queue.stop(DRAIN_MS)]);
      await skills.stop();
      await storage.close();
    },
  };
}

/**
 * Where the metrics have a port of their own, its server. A port that nobody asked for keeps nothing from starting when it is taken.
 * @throws CountersignError when the operator named the port, and it is taken.
 */
async function listenForMetrics(
  own: MetricsAccess['own'],
  parts: Parameters<typeof createMetricsServer>[0],
): Promise<{ server: Server; url: string } | undefined> {
  if (!own) return undefined;
  const server = createMetricsServer(parts);
  try {
    return { server, url: await listen(server, own) };
  } catch (error) {
    if (own.isGiven) throw error;
    parts.log.warn({}, noMetrics(messageOf(error)));
    return undefined;
  }
}

/** `undefined` when all is kept for good. */
function periodsOf({ retention }: AppConfig): RetentionPeriods | undefined {
  return retention && Object.values(retention).some((ms) => ms !== null) ? retention : undefined;
}

function textIn(job: Job, field: string): string {
  const value = (job.payload as Record<string, unknown>)[field];
  if (typeof value !== 'string') throw new Error(`a ${job.kind} job without ${field}`);
  return value;
}

function numberIn(job: Job, field: string): number {
  const value = (job.payload as Record<string, unknown>)[field];
  if (typeof value !== 'number') throw new Error(`a ${job.kind} job without ${field}`);
  return value;
}
