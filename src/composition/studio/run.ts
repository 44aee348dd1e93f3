import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { getRequestListener } from '@hono/node-server';
import { gitHubPages } from '../../config/addresses.ts';
import type { AppConfig, BaseConfig } from '../../config/config.ts';
import { type Clock, SharedClock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { createLog } from '../../core/log-lines.ts';
import { neverShow } from '../../core/redact/redact.ts';
import { createLimitMemory } from '../../engine/effects/limit-memory.ts';
import { createApi } from '../../entrypoints/api/api.ts';
import { type OwnersAccess, ownersAccess } from '../../entrypoints/api/owners.ts';
import { whoseToken } from '../../entrypoints/api/streams.ts';
import type { PublicRepositories } from '../../entrypoints/studio/access.ts';
import { createDryRuns, type DryRuns } from '../../entrypoints/studio/dry-runs.ts';
import { liveUpdates } from '../../entrypoints/studio/live.ts';
import { type OneTimeLink, oneTimeLink } from '../../entrypoints/studio/one-time-link.ts';
import { createStudio } from '../../entrypoints/studio/studio.ts';
import { listen } from '../../entrypoints/webhook/listen.ts';
import type { ReadAs } from '../../messages/studio/deliveries.ts';
import type { AppHealth } from '../../ports/app-health.ts';
import type { ChainTools } from '../../ports/chain-tools.ts';
import type { GitHubForPeople } from '../../ports/github-person.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Delivery, Storage } from '../../ports/storage.ts';
import { openBlobs } from '../blobs.ts';
import { openStorage } from '../storage.ts';
import { dryRunProcesses } from './dry-run-player.ts';
import type { FromStudio, RunningStudio, StudioStart, ToStudio } from './messages.ts';

/** The settings that Studio reads. */
type StudioPlaces = Pick<
  BaseConfig,
  'studio' | 'publicUrl' | 'githubApiUrl' | 'artifactsUrl' | 's3' | 'merging' | 'settings'
>;

interface StudioPlatform {
  storage: Storage;
  clock: Clock;
  log: Log;
}

/** Studio's thread. Runs until the thread that started it says so. */
export async function runStudio({ config, secrets }: StudioStart, port: MessagePort): Promise<void> {
  for (const [name, value] of Object.entries(secrets)) neverShow(name, value);
  const log = createLog(config.logLevel, config.logFormat);
  // By the database's time, a job is due and a command was given, whichever machine they come from.
  const clock = new SharedClock();
  const storage = await openStorage(config.databaseUrl, { clock, isOpenHere: true });
  const closed = Promise.withResolvers<void>();
  const send = (message: FromStudio) => port.postMessage(message);
  const app = askOver(send);
  port.on('message', (message: ToStudio) =>
    message.kind === 'close' ? closed.resolve() : app.take(message),
  );
  const studio = await startStudioHere({ config, secrets }, { storage, clock, log }, app.health);
  send({ kind: 'listening', socketPath: studio.socketPath });
  await closed.promise;
  await studio.stop();
  await storage.close();
  port.close();
}

/** Asks the thread that started this one how the app is. */
function askOver(send: (message: FromStudio) => void) {
  const waiting = new Map<number, PromiseWithResolvers<AppHealth>>();
  let last = 0;
  return {
    health(): Promise<AppHealth> {
      const id = ++last;
      const asked = Promise.withResolvers<AppHealth>();
      waiting.set(id, asked);
      send({ kind: 'ask', id });
      return asked.promise;
    },
    take({ id, health }: Extract<ToStudio, { kind: 'answer' }>) {
      if (health) waiting.get(id)?.resolve(health);
      else waiting.get(id)?.reject(new Error('the app could not say how it is'));
      waiting.delete(id);
    },
  };
}

/** Studio in this thread, on a Unix socket that only this user can reach. */
export async function startStudioHere(
  { config }: StudioStart,
  { storage, clock, log }: StudioPlatform,
  health: () => Promise<AppHealth>,
): Promise<RunningStudio> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-studio-'));
  const socketPath = join(folder, 'http.sock');
  const { server, stop } = serveStudio(
    config,
    { storage, clock, log },
    { ...(await askingGitHub(config, { storage, clock, log })), health },
  );
  const ended = Promise.withResolvers<void>();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => resolve());
  });
  return {
    socketPath,
    ended: ended.promise,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
      ended.resolve();
    },
  };
}

/** How Studio asks GitHub who people are and what they may see. */
interface AskingGitHub {
  github?: GitHubForPeople;
  queue?: Pick<Queue, 'enqueue'>;
  jobOf?: (delivery: Delivery) => NewJob;
  readingOf?: (delivery: Pick<Delivery, 'event' | 'body'>) => Promise<ReadAs>;
  dryRuns?: DryRuns;
  publicRepositories?: PublicRepositories;
  /** For tokens that people made. */
  ownerSees?: OwnersAccess;
}

/** Loads only what the settings need. */
async function askingGitHub(
  { studio, githubApiUrl, merging, appId, privateKey }: AppConfig,
  { storage, clock, log }: StudioPlatform,
): Promise<AskingGitHub> {
  const asking: AskingGitHub = {};
  const asApp = once(async () => {
    const [{ createOctokitGitHub }, { octokitsWithKey }] = await Promise.all([
      import('../../adapters/octokit/octokit-github.ts'),
      import('../../adapters/octokit/sign-in.ts'),
    ]);
    const source = octokitsWithKey({ appId, privateKey, apiUrl: githubApiUrl });
    // The engine asks for the same installations, in this process or in another one.
    const limitMemory = createLimitMemory(storage, clock);
    return createOctokitGitHub({ source, log, clock, limitMemory, sharesLimits: true });
  });
  asking.ownerSees = ownersAccess({ read: storage.read, github: asApp, clock });
  if (studio?.signIn) {
    const [{ gitHubForPeople }, { createEmbeddedQueue }, { jobOfDelivery }] = await Promise.all([
      import('../../adapters/octokit/for-people.ts'),
      import('../../adapters/embedded-queue/embedded.ts'),
      import('../../entrypoints/webhook/delivery/new-jobs.ts'),
    ]);
    const pagesUrl = gitHubPages(githubApiUrl);
    asking.github = await gitHubForPeople({ ...studio.signIn, pagesUrl, apiUrl: githubApiUrl, clock });
    // It is never started: the engine's own queue finds the jobs in the database.
    asking.queue = createEmbeddedQueue({ storage, clock, log });
    asking.jobOf = jobOfDelivery;
    asking.readingOf = async (delivery) => {
      const { readDelivery } = await import('../../entrypoints/webhook/delivery/process.ts');
      return (await readDelivery(delivery, { appId, runs: storage.read.runs })).read;
    };
    const player = dryRunProcesses({ githubApiUrl, ...(merging && { merging }) }, { log });
    asking.dryRuns = createDryRuns({ player, storage, clock, log });
  }
  if (studio?.isPublic) {
    const github = await asApp();
    asking.publicRepositories = async () => {
      const ids: number[] = [];
      for (const { id, suspended } of await github.app.installations()) {
        if (suspended) continue;
        const repositories = await github.reader(id, 'person').repositories();
        ids.push(...repositories.flatMap((repository) => (repository.isPublic ? [repository.id] : [])));
      }
      return ids;
    };
  }
  return asking;
}

/** The server of Studio. It does not listen yet. */
export function serveStudio(
  config: StudioPlaces,
  { storage, clock, log }: StudioPlatform,
  { link, ...asking }: { link?: OneTimeLink; health?: () => Promise<AppHealth> } & AskingGitHub,
): { server: Server; stop(): Promise<void> } {
  const pages = { github: gitHubPages(config.githubApiUrl) };
  const studio = createStudio({
    ...(!link && {
      api: createApi({
        storage,
        pages,
        clock,
        log,
        ...(asking.ownerSees && { ownerSees: asking.ownerSees }),
        openStreams: (access) => liveUpdates({ storage, access, whoseIs: whoseToken, log }),
      }),
    }),
    config: config.studio ?? { isPublic: false, operators: [] },
    publicUrl: config.publicUrl,
    githubApiUrl: config.githubApiUrl,
    settings: config.settings,
    ...(link && { link }),
    ...asking,
    blobs: once(() => openBlobs(config.artifactsUrl, config.s3)),
    chainTools: once(loadChainTools),
    storage,
    clock,
    log,
  });
  const server = createServer(getRequestListener(studio.fetch));
  return {
    server,
    async stop() {
      await Promise.all([
        asking.dryRuns?.close(),
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
      ]);
    },
  };
}

async function loadChainTools(): Promise<ChainTools> {
  const { chainTools } = await import('../chain-tools.ts');
  return chainTools();
}

function once<T>(open: () => T): () => T {
  let opened: { as: T } | undefined;
  return () => {
    opened ??= { as: open() };
    return opened.as;
  };
}

/**
 * Serves Studio on this machine alone, for the person who opens the link.
 * @returns the link, and how to stop
 * @throws CountersignError if the port is taken
 */
export async function openStudio(
  config: StudioPlaces & Pick<BaseConfig, 'databaseUrl' | 'logLevel' | 'logFormat'>,
  port: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  const clock = new SharedClock();
  const log = createLog(config.logLevel, config.logFormat);
  const storage = await openStorage(config.databaseUrl, { clock, log });
  const link = oneTimeLink();
  const { server, stop } = serveStudio(config, { storage, clock, log }, { link });
  try {
    const url = await listen(server, { host: '127.0.0.1', port });
    return { url: `${url}${link.path}`, stop: () => stop().finally(() => storage.close()) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}
