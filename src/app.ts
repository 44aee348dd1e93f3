import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCommandHandler } from './command/handle.ts';
import type { ModelConfig } from './config/model.ts';
import { type AppConfig, gitHubPages } from './config.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { CountersignError } from './core/errors.ts';
import { type Ids, timeSortedIds } from './core/ids.ts';
import { type Log, redactedLog } from './core/log.ts';
import { withoutRepeats } from './core/outage-log.ts';
import { neverShow } from './core/redact.ts';
import { createEventJobs } from './delivery/event-jobs.ts';
import { createIntake } from './delivery/intake.ts';
import { createProcessor } from './delivery/process.ts';
import { createOutbox } from './effect/outbox.ts';
import { createPace } from './effect/pace.ts';
import { createPerformer } from './effect/perform.ts';
import type { Event } from './event/event.ts';
import { createOctokitGitHub, type OctokitGitHubOptions } from './github/octokit/octokit-github.ts';
import { createModel } from './model/ask.ts';
import { createLedger, type Ledger } from './model/ledger.ts';
import type { Model } from './model/model.ts';
import { familyOf } from './model/name.ts';
import { builtInPolicy, type PolicyEngine } from './policy/engine.ts';
import { createEmbeddedQueue } from './queue/embedded.ts';
import { createPatience } from './queue/patience.ts';
import { type Job, type JobHandler, type JobKind, type Queue, signalJobSchema } from './queue/queue.ts';
import { recoveryJobs } from './recovery/jobs.ts';
import { fetchMissedDeliveries, LOOK_EVERY_MS } from './recovery/missed-deliveries.ts';
import { reconcile, reconcileJobSchema } from './recovery/reconcile.ts';
import type { Cause } from './run/actor.ts';
import { createConfigurationLoader } from './run/configuration.ts';
import { createEngine, type Engine } from './run/engine.ts';
import { onEvent } from './run/on-event.ts';
import { createPublisher } from './run/publish.ts';
import { createSessionArtifacts } from './session/artifacts.ts';
import { createContextOf } from './session/context.ts';
import { createExecutor } from './session/execute.ts';
import { createRegistry } from './session/registry.ts';
import type { StepHandler } from './session/step.ts';
import { shippedChains, shippedSkills } from './shipped.ts';
import { createActivation } from './skill/activation/activation.ts';
import { autoSkill } from './skill/activation/auto.ts';
import { createSelect } from './skill/activation/select.ts';
import { agentSkill } from './skill/agent/agent-skill.ts';
import { analyzerSkill } from './skill/analyzer/analyzer-skill.ts';
import { askJobSchema, createAsk } from './skill/ask/ask.ts';
import { codeSkill } from './skill/code/code-skill.ts';
import { moduleSkill } from './skill/module/module-skill.ts';
import { createSidecar, type Sidecar } from './skill/module/sidecar.ts';
import { promptSkill } from './skill/prompt/prompt-skill.ts';
import { type ActivationDeps, createRunPackage, packageSkill } from './skill/registry/activate.ts';
import { createSkillKeeper } from './skill/registry/keep.ts';
import { builtInSkills } from './skill/shipped.ts';
import { communitySkills } from './skill/sync/community.ts';
import { createCarryOut } from './skill/trace/carry-out.ts';
import { createRecorder } from './skill/trace/record.ts';
import { watchModel } from './skill/trace/watch-model.ts';
import type { Blobs } from './storage/blobs.ts';
import { openBlobs, openStorage } from './storage/open.ts';
import type { Storage } from './storage/storage.ts';
import { createMetrics } from './webhook/metrics.ts';
import { createHttpServer } from './webhook/server.ts';

export interface App {
  /** Where it listens. */
  url: string;
  storage: Storage;
  queue: Queue;
  /** Takes no more webhooks, lets what is under way end, and closes the database. */
  stop(): Promise<void>;
}

/** What tests put in the place of the real thing. */
export interface AppOverrides {
  clock?: Clock;
  ids?: Ids;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  github?: Pick<OctokitGitHubOptions, 'timeoutMs' | 'mergeTimeoutMs' | 'pointsPerMinute'>;
  /** Beside the skills that ship. */
  skills?: readonly StepHandler[];
  policy?: PolicyEngine;
  /** Stands between the app and its database. */
  storage?: (real: Storage) => Storage;
  /** Stands between the app and its store of large artifacts. */
  blobs?: (real: Blobs) => Blobs;
  /** What carries out the artifacts of skill packages. */
  artifactHandlers?: ActivationDeps['handlers'];
  /** The process of modules; whoever made it ends it. */
  sidecar?: Sidecar;
}

/** What is under way has so many milliseconds to end: with what follows, it must be less than the 10 s that supervisors give. */
const DRAIN_MS = 7_000;
/** A delivery that is being sent when we stop is whole long before this, in milliseconds; a sender that stalls is cut off. */
const LAST_REQUESTS_MS = 2_000;

/** Builds everything by hand, starts it, and hands back what stops it. */
export async function startApp(config: AppConfig, givenLog: Log, overrides: AppOverrides = {}): Promise<App> {
  neverShow('private key', config.privateKey);
  neverShow('webhook secret', config.webhookSecret);
  if (config.model?.apiKey) neverShow('model key', config.model.apiKey);
  const clock = overrides.clock ?? systemClock;
  const log = withoutRepeats(redactedLog(givenLog), clock);
  const ids = overrides.ids ?? timeSortedIds(() => clock.now());
  const realStorage = await openStorage(config.databaseUrl, { clock });
  const storage = overrides.storage?.(realStorage) ?? realStorage;
  const realBlobs = openBlobs(config.artifactsUrl, config.s3);
  const blobs = overrides.blobs?.(realBlobs) ?? realBlobs;
  const metrics = createMetrics();
  const github = createOctokitGitHub({
    appId: config.appId,
    privateKey: config.privateKey,
    apiUrl: config.githubApiUrl,
    log,
    clock,
    metrics,
    ...overrides.github,
  });
  const queue = createEmbeddedQueue({
    storage,
    clock,
    log,
    ...(overrides.random ? { random: overrides.random } : {}),
  });

  const outbox = createOutbox({ queue, ids });
  const performer = createPerformer({ storage, github, clock, log, pace: createPace() });
  const watch = watchModel(config.model && (await openModel(config.model, storage, clock)));
  const { model } = watch;
  const policy = overrides.policy ?? builtInPolicy;
  const modelFamily = config.model ? familyOf(config.model.name) : null;
  const sidecar = overrides.sidecar ?? createSidecar({ clock });
  const prompt = promptSkill({ model });
  const kinds = overrides.artifactHandlers ?? [
    prompt,
    codeSkill({ model }),
    moduleSkill({ model, sidecar, skills: storage.read.skills, modelFamily, prompt }),
    analyzerSkill,
    agentSkill({
      agents: config.agents ?? {},
      model: config.model && { ...config.model, ledger: ledgerOf(config.model, storage, clock) },
      async gitAccess({ installationId, repositoryId, repository }) {
        const token = await github.app.readToken(installationId, repositoryId);
        return { url: `${gitHubPages(config.githubApiUrl)}/${repository}.git`, token };
      },
    }),
  ];
  const runPackage = createRunPackage({
    skills: storage.read.skills,
    handlers: kinds,
    modelFamily,
    carryOut: createCarryOut({ watch, record: createRecorder({ storage, blobs }), clock }),
  });
  const select = createSelect({
    skills: storage.read.skills,
    kinds: kinds.map(({ kind }) => kind),
    model,
  });
  const named = packageSkill(runPackage);
  const activation = createActivation({ select, runPackage, policy });
  const auto = autoSkill({ storage, activation });
  const registry = createRegistry(
    [...builtInSkills({ model }), ...(overrides.skills ?? [])],
    policy,
    (step) => (step.uses.candidates ? auto(step) : named(step)),
  );
  const names = { skills: registry.skills, actions: registry.actions };
  const keepSkill = createSkillKeeper({ storage, clock });
  const configuration = createConfigurationLoader({
    github,
    clock,
    names,
    shipped: shippedChains(names),
    shippedSkills: shippedSkills(),
    communitySkills: communitySkills(storage.read.skills),
    keepSkill,
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
  const executor = createExecutor({
    storage,
    github,
    queue,
    artifacts: createSessionArtifacts({ blobs, clock, ids }),
    contextOf: createContextOf({ storage, github, configuration, clock, ids, log }),
    outbox,
    engine: (): Engine => engine,
    registry,
    clock,
    log,
  });
  const engine = createEngine({
    queue,
    artifactDefaults: registry.artifactDefaultsOf,
    produces: registry.producesOf,
    publisher: createPublisher({
      outbox,
      clock,
      pages: { github: gitHubPages(config.githubApiUrl), studio: config.publicUrl ?? null },
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
  const eventDeps = {
    storage,
    github,
    engine,
    outbox,
    configuration,
    clock,
    ids,
    log,
    onCommand,
  };
  const onAnyEvent = (event: Event, cause: Cause | null) => onEvent(eventDeps, event, cause);
  const processor = createProcessor({ storage, queue, appId: config.appId, clock, log, onEvent: onAnyEvent });
  const lookForMissed = (at: Date) => storage.transaction((tx) => queue.enqueue(tx, ...recoveryJobs(at)));
  const eventJobs = createEventJobs({ storage, queue, clock, log, onEvent: onAnyEvent });

  const handlers: Record<JobKind, JobHandler> = {
    delivery: (job) => processor.process(numberIn(job, 'deliveryId')),
    event: (job) => eventJobs.perform(job),
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
    effect: (job) => performer.perform(textIn(job, 'key')),
    ask: (job, signal) => ask.answer(askJobSchema.parse(job.payload), signal),
    missed_deliveries: (_, signal) => fetchMissedDeliveries({ storage, app: github.app, clock, log }, signal),
    reconcile: (job, signal) =>
      reconcile({ storage, queue, github, clock, log }, reconcileJobSchema.parse(job.payload), signal),
  };
  const patience = createPatience(clock);
  queue.start(patience.patient(handlers), async (job, error) => {
    switch (job.kind) {
      case 'delivery':
        return processor.giveUp(numberIn(job, 'deliveryId'), error);
      case 'session':
        return executor.giveUp(textIn(job, 'sessionId'), error);
      case 'effect':
        return performer.giveUp(textIn(job, 'key'), error);
      case 'ask':
        log.error({ job: job.kind, key: job.key, err: error }, 'gave up on answering a question');
        return ask.giveUp(askJobSchema.parse(job.payload));
      case 'event':
        return eventJobs.giveUp(job, error);
      case 'missed_deliveries':
      case 'reconcile':
        log.error({ job: job.kind, key: job.key, err: error }, 'gave up on looking for what was missed');
        return lookForMissed(new Date(clock.now().getTime() + LOOK_EVERY_MS));
      case 'signal':
      case 'wake':
        log.error({ job: job.kind, key: job.key, err: error }, 'gave up on a job');
    }
  });

  await lookForMissed(clock.now());

  const server = createHttpServer({
    secret: config.webhookSecret,
    intake: createIntake({ storage, queue, clock }),
    health: { database: () => storage.check() },
    metrics: metrics.registry,
    collectMetrics: () =>
      metrics.collect({
        storage,
        clock,
        log,
        standings: github.standings,
        waitingForGitHub: patience.waiting,
      }),
    log,
  });
  try {
    await listen(server, config.port, config.host);
  } catch (error) {
    await queue.stop(0);
    await storage.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;

  return {
    url: `http://${host}:${port}`,
    storage,
    queue,
    async stop() {
      await Promise.all([close(server), queue.stop(DRAIN_MS)]);
      if (!overrides.sidecar) await sidecar.stop();
      await storage.close();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const because = error.code === 'EADDRINUSE' ? 'something else listens there already' : error.message;
      reject(new CountersignError('http.cannot_listen', `it cannot listen on ${host}:${port}: ${because}.`));
    });
    server.listen(port, host, resolve);
  });
}

/** Lets requests under way be answered. A server that closes does not look at its time limits any more, so there is one here. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), LAST_REQUESTS_MS);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
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

/** The packages of the providers are loaded only where there is a model: they take longer than all of the app's own. */
export async function openModel(config: ModelConfig, storage: Storage, clock: Clock): Promise<Model> {
  const { createAiProvider } = await import('./model/ai/provider.ts');
  return createModel({ provider: await createAiProvider(config), ledger: ledgerOf(config, storage, clock) });
}

function ledgerOf(config: ModelConfig, storage: Storage, clock: Clock): Ledger {
  return createLedger({ ...config, storage, clock, model: config.name });
}
