import { createChat } from '../adapters/chat/webhooks.ts';
import { createEmbeddedQueue } from '../adapters/embedded-queue/embedded.ts';
import { createOctokitGitHub, type OctokitGitHubOptions } from '../adapters/octokit/octokit-github.ts';
import type { OctokitSource } from '../adapters/octokit/sign-in.ts';
import type { BaseConfig } from '../config/config.ts';
import { type Clock, SharedClock, systemClock, systemTimers, type Timers } from '../core/clock.ts';
import { type Ids, timeSortedIds } from '../core/ids.ts';
import { type Log, redactedLog } from '../core/log.ts';
import { withoutRepeats } from '../core/outage-log.ts';
import { createLimitMemory } from '../engine/effects/limit-memory.ts';
import { createWriteLimiter, type WriteLimiter } from '../engine/effects/write-limiter.ts';
import { createWebhookWatch, type WebhookWatch } from '../engine/self-check/webhook-watch.ts';
import { createTracer, type Tracer } from '../engine/traces/tracer.ts';
import type { RetentionPeriods } from '../entrypoints/retention/retention.ts';
import { createMetrics, type Metrics } from '../entrypoints/webhook/metrics.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Chat } from '../ports/chat.ts';
import type { AnsweredRequest } from '../ports/github.ts';
import type { Queue } from '../ports/queue.ts';
import type { Storage } from '../ports/storage.ts';
import type { WorkShare } from '../ports/work-share.ts';
import { openBlobs } from './blobs.ts';
import { isPostgres, openStorage } from './storage.ts';

/** The adapters below everything else, including the sources of time and randomness that tests replace. */
export interface Platform {
  config: BaseConfig;
  storage: Storage;
  blobs: Blobs;
  github: ReturnType<typeof createOctokitGitHub>;
  queue: Queue;
  writeLimiter: WriteLimiter;
  webhookWatch: WebhookWatch;
  chat: Chat;
  metrics: Metrics;
  /** `undefined` if no traces are sent. */
  tracer: Tracer | undefined;
  clock: Clock;
  timers: Timers;
  ids: Ids;
  random: () => number;
  log: Log;
  /** `undefined` if nothing is ever deleted. */
  retention: RetentionPeriods | undefined;
}

/** Replacements for tests. */
export interface PlatformOverrides {
  clock?: Clock;
  /** For waiting on a locked database, and for what steps print while they run. */
  timers?: Timers;
  ids?: Ids;
  /** How often the queue looks for work of other processes, in milliseconds. */
  pollMs?: number;
  /** Returns a number from 0 to 1 for the jitter of retries. */
  random?: () => number;
  github?: Pick<OctokitGitHubOptions, 'timeoutMs' | 'mergeTimeoutMs' | 'pointsPerMinute' | 'limiterNow'>;
  /** Wraps the database, for example to inject failures. */
  storage?: (real: Storage) => Storage;
  /** Wraps the store of large artifacts. */
  blobs?: (real: Blobs) => Blobs;
}

/** @param share of a process that divides the work with others */
export async function openPlatform(
  config: BaseConfig,
  source: OctokitSource,
  givenLog: Log,
  overrides: PlatformOverrides,
  share?: WorkShare,
): Promise<Platform> {
  // A process that only receives webhooks says when a command came that somebody gave by a button.
  const clock =
    overrides.clock ?? share?.clock ?? (isPostgres(config.databaseUrl) ? new SharedClock() : systemClock);
  const log = withoutRepeats(redactedLog(givenLog), clock);
  const timers = overrides.timers ?? systemTimers;
  const random = overrides.random ?? Math.random;
  const realStorage = await openStorage(config.databaseUrl, { clock, timers, log });
  const storage = overrides.storage?.(realStorage) ?? realStorage;
  const realBlobs = openBlobs(config.artifactsUrl, config.s3);
  const metrics = createMetrics();
  if (share) metrics.leasesOf(share);
  const tracer = config.tracing && (await openTracer(config.tracing, { clock, timers, log, metrics }));
  const writeLimiter = createWriteLimiter();
  const watching = {
    heldBack: metrics.heldBack,
    answered(request: AnsweredRequest) {
      writeLimiter.answered(request, clock.now());
      metrics.answered(request);
      tracer?.request(request);
    },
  };
  const github = createOctokitGitHub({
    source,
    log,
    clock,
    metrics: watching,
    limitMemory: createLimitMemory(storage, clock),
    ...(share && { mayWrite: () => share.mayWrite() }),
    ...overrides.github,
  });
  return {
    config,
    storage,
    blobs: overrides.blobs?.(realBlobs) ?? realBlobs,
    github,
    webhookWatch: createWebhookWatch({ clock, log }),
    writeLimiter,
    chat: createChat({ webhooks: new Map(), allowsPrivate: false, ...config.chat, clock }),
    queue: createEmbeddedQueue({
      storage,
      clock,
      log,
      random,
      worksAlone: isPostgres(config.databaseUrl),
      ...(share && { share }),
      ...(config.workers && { concurrency: config.workers.others, reviews: config.workers.reviews }),
      ...(overrides.pollMs === undefined ? {} : { pollMs: overrides.pollMs }),
    }),
    metrics,
    tracer,
    clock,
    timers,
    ids: overrides.ids ?? timeSortedIds(() => clock.now()),
    random,
    log,
    retention: Object.values(config.retention ?? {}).some((ms) => ms !== null) ? config.retention : undefined,
  };
}

/** Loads the code for it only where traces are sent. */
async function openTracer(
  tracing: NonNullable<BaseConfig['tracing']>,
  { clock, timers, log, metrics }: Pick<Platform, 'clock' | 'timers' | 'log' | 'metrics'>,
): Promise<Tracer> {
  const { createOtlpTraces } = await import('../adapters/otlp/traces.ts');
  return createTracer({ traces: createOtlpTraces(tracing, { timers, log, onSpans: metrics.spans }), clock });
}
