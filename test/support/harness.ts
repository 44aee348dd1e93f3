import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createAnalyzerPool } from '../../src/analyzers/pool.ts';
import { type App, type AppOverrides, startApp } from '../../src/app.ts';
import type { AppConfig } from '../../src/config/config.ts';
import { settingsInForce } from '../../src/config/settings.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { type Ids, timeSortedIds } from '../../src/core/ids.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { ManualClock } from './clock.ts';
import { type GitHubStandIn, type StandInOptions, startGitHub } from './github/stand-in.ts';
import { memoryFolder } from './memory-folder.ts';
import { writeMigratedDatabase } from './migrated-database.ts';
import { createRequestValidator, type RequestValidator } from './openapi/validator.ts';
import { postgresForScenarios } from './postgres.ts';

export const REPO = 'octo/app';

export interface Harness {
  github: GitHubStandIn;
  app: App;
  clock: ManualClock;
  config: AppConfig;
  /** Lets everything happen that is due now, including what the app delays briefly to send it once. */
  settle(): Promise<void>;
  /**
   * Moves time in steps small enough that nothing due in between is skipped, and settles. It also waits for what is due within
   * `ahead` milliseconds: with 0, time moves exactly so far, however much is about to happen.
   */
  advance(ms: number, ahead?: number): Promise<void>;
  /** Moves time at once, as if the machine had slept: what is due several times meanwhile, such as a poll, happens once. */
  sleep(ms: number): Promise<void>;
  /** Stops the app; webhooks that GitHub sends meanwhile reach nobody. */
  down(): Promise<void>;
  /** Starts it again on the same database. */
  up(): Promise<void>;
  restart(): Promise<void>;
  /** Requests that GitHub's own description does not allow, as sentences. */
  faultyRequests: string[];
  stop(): Promise<void>;
}

export interface HarnessOptions {
  files?: Record<string, string>;
  log?: Log;
  publicUrl?: string;
  github?: AppOverrides['github'];
  skills?: AppOverrides['skills'];
  model?: AppConfig['model'];
  policy?: AppOverrides['policy'];
  artifactHandlers?: AppOverrides['artifactHandlers'];
  shell?: AppOverrides['shell'];
  agents?: AppOverrides['agents'];
  sidecar?: AppOverrides['sidecar'];
  /** By default, no process of an analyzer outlives its review. */
  analyzers?: AppOverrides['analyzers'];
  timers?: AppOverrides['timers'];
  pollMs?: AppOverrides['pollMs'];
  /** `lazy`: GitHub computes whether there is a conflict when it is first asked, and does not know until then. */
  mergeability?: 'eager' | 'lazy';
  /** GitHub enforces its limits on points and created content, and the app keeps to them; both by the test's clock. */
  secondaryLimits?: StandInOptions['secondaryLimits'];
  rateLimit?: StandInOptions['rateLimit'];
  retention?: AppConfig['retention'];
  rollout?: AppConfig['rollout'];
  studio?: AppConfig['studio'];
  chat?: AppConfig['chat'];
  workers?: AppConfig['workers'];
  skillIndexes?: AppConfig['skillIndexes'];
  tracing?: AppConfig['tracing'];
  blobs?: AppOverrides['blobs'];
  storage?: AppOverrides['storage'];
  /** `real`: as long and as random as the app's own, for tests that count bytes. */
  ids?: 'counting' | 'real';
  /** An empty folder for the database; by default one in memory, if the system has such a place. */
  folder?: string;
  /** A migrated database that stays, instead of one of the harness. */
  databaseUrl?: string;
}

/** Jobs due within so many milliseconds count as due now. */
const SOON_MS = 1_000;

/** Compiling GitHub's description takes a while, and it never changes. */
let validator: RequestValidator | undefined;

/**
 * The real app on a real SQLite file, or on PostgreSQL with `COUNTERSIGN_TEST_DATABASE=postgres`, with a stateful GitHub behind it: webhooks go in over HTTP, and tests read what a person
 * would read. The repository `octo/app` has a maintainer (mia), a writer (will), an outsider (otto) and an author (ada).
 */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const postgres =
    options.databaseUrl === undefined && process.env.COUNTERSIGN_TEST_DATABASE === 'postgres'
      ? await postgresForScenarios()
      : undefined;
  const folder = options.folder ?? mkdtempSync(join(memoryFolder(), 'countersign-test-'));
  const database = join(folder, 'countersign.db');
  if (options.folder === undefined) await writeMigratedDatabase(database);
  const clock = new ManualClock('2026-03-02T09:00:00.000Z');
  const github = await startGitHub({
    now: () => clock.now(),
    ...(options.mergeability ? { mergeability: options.mergeability } : {}),
    ...(options.secondaryLimits ? { secondaryLimits: options.secondaryLimits } : {}),
    ...(options.rateLimit ? { rateLimit: options.rateLimit } : {}),
  });
  const faultyRequests: string[] = [];
  validator ??= createRequestValidator();
  const validate = validator;
  github.onRequest(({ method, path, body }) => {
    // GitHub itself gives addresses by id, in redirects. Its description has no pages.
    if (!path.startsWith('/repositories/') && !path.startsWith('/login/'))
      faultyRequests.push(...validate({ method, path, body }));
  });

  github.addOrganization('octo');
  for (const login of ['mia', 'max', 'will', 'ada', 'otto']) github.addUser(login);
  github.addRepository({
    owner: 'octo',
    name: 'app',
    files: { 'README.md': '# App\n', 'src/index.ts': 'export const one = 1;\n', ...options.files },
    collaborators: { mia: 'maintain', max: 'admin', will: 'write', ada: 'write' },
  });
  github.installApp('octo');

  const values: Omit<AppConfig, 'settings'> = {
    kind: 'app',
    appId: github.app.id,
    privateKey: github.app.privateKey,
    webhookSecret: github.app.webhookSecret,
    githubApiUrl: github.url,
    host: '127.0.0.1',
    port: 0,
    metricsAccess: { own: { host: '127.0.0.1', port: 0, isGiven: true } },
    publicUrl: options.publicUrl,
    databaseUrl: options.databaseUrl ?? postgres?.url ?? `sqlite:${database}`,
    artifactsUrl: `file:${join(folder, 'artifacts')}`,
    logLevel: 'silent',
    ...(options.model ? { model: options.model } : {}),
    ...(options.chat ? { chat: options.chat } : {}),
    ...(options.studio ? { studio: options.studio } : {}),
    ...(options.workers ? { workers: options.workers } : {}),
    ...(options.skillIndexes ? { skillIndexes: options.skillIndexes } : {}),
    ...(options.tracing ? { tracing: options.tracing } : {}),
    ...(options.retention ? { retention: options.retention } : {}),
    ...(options.rollout ? { rollout: options.rollout } : {}),
  };
  const config: AppConfig = { ...values, settings: settingsInForce(values, {}) };
  const ids = options.ids === 'real' ? timeSortedIds(() => clock.now()) : countingIds();
  const start = async () => {
    const app = await startApp(config, options.log ?? silentLog, {
      intake: 'here',
      clock,
      ids,
      random: () => 0.5,
      // The clock does not move by itself, so no minute would ever pass.
      ...(options.timers ? { timers: options.timers } : {}),
      ...(options.pollMs ? { pollMs: options.pollMs } : {}),
      ...(options.skills ? { skills: options.skills } : {}),
      ...(options.policy ? { policy: options.policy } : {}),
      ...(options.blobs ? { blobs: options.blobs } : {}),
      ...(options.storage ? { storage: options.storage } : {}),
      github: options.secondaryLimits
        ? { limiterNow: () => clock.now().getTime(), ...options.github }
        : { pointsPerMinute: Number.POSITIVE_INFINITY, ...options.github },
      ...(options.artifactHandlers ? { artifactHandlers: options.artifactHandlers } : {}),
      ...(options.shell ? { shell: options.shell } : {}),
      ...(options.agents ? { agents: options.agents } : {}),
      ...(options.sidecar ? { sidecar: options.sidecar } : {}),
      analyzers: options.analyzers ?? createAnalyzerPool({ spares: false }),
    });
    github.setWebhookUrl(`${app.url}${WEBHOOK_PATH}`);
    return app;
  };

  const harness: Harness = {
    github,
    app: await start(),
    clock,
    config,
    faultyRequests,
    settle: () => settle(SOON_MS),
    async advance(ms, ahead = SOON_MS) {
      const end = clock.now().getTime() + ms;
      await settle(ahead);
      for (;;) {
        const next = await harness.app.storage.read.jobs.nextDue(clock.now());
        if (next === undefined || next.getTime() > end) break;
        clock.moveTo(next);
        harness.app.queue.wake();
        await settle(ahead);
      }
      clock.moveTo(new Date(end));
      harness.app.queue.wake();
      await settle(ahead);
    },
    async sleep(ms) {
      clock.advance(ms);
      harness.app.queue.wake();
      await settle(SOON_MS);
    },
    down: () => harness.app.stop(),
    async up() {
      harness.app = await start();
    },
    async restart() {
      await harness.down();
      await harness.up();
    },
    async stop() {
      await harness.app.stop();
      await github.stop();
      await postgres?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return harness;

  async function settle(ahead: number): Promise<void> {
    for (;;) {
      await github.settle();
      await harness.app.queue.idle();
      await github.settle();
      // A request to GitHub may have been answered in the meantime.
      if ((await harness.app.storage.read.jobs.countDue(clock.now())) > 0) continue;
      const next = await harness.app.storage.read.jobs.nextDue(clock.now());
      if (next === undefined || next.getTime() - clock.now().getTime() > ahead) return;
      clock.moveTo(next);
      harness.app.queue.wake();
    }
  }
}

/** Ids that a person can read and a snapshot can hold. */
function countingIds(): Ids {
  const counts = new Map<string, number>();
  return {
    next(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, count);
      return `${prefix}_${count}`;
    },
  };
}
