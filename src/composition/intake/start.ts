import { setFlagsFromString } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { openInbox, readInbox } from '../../adapters/sqlite/inbox.ts';
import type { AppConfig } from '../../config/config.ts';
import { ALL_ROLES } from '../../config/roles.ts';
import type { OutagePolicy } from '../../engine/jobs/outage-policy.ts';
import { createDrain, type Drain, takenFrom } from '../../entrypoints/webhook/delivery/drain.ts';
import { recordIn } from '../../entrypoints/webhook/delivery/intake.ts';
import { failedChecks, publicNames } from '../../entrypoints/webhook/readiness.ts';
import { MERGING_IS_OFF, signInWaits } from '../../entrypoints/webhook/refusals.ts';
import { wordsOf } from '../../messages/self-check/self-check.ts';
import { indexStatus } from '../../skills/catalogue/sync/check.ts';
import { diskRooms } from '../disks.ts';
import type { Platform } from '../platform.ts';
import { inboxOf, isPostgres } from '../storage.ts';
import { startStudioThread, studioGate } from '../studio/gate.ts';
import { answerIntake, beat, createHeartbeat, type TakeFromIntake } from './engine-end.ts';
import { appHealth } from './health.ts';
import { type Listening, listenForRequests } from './listen.ts';
import type { Close, FromEngine, FromIntake, IntakeStart, MakesReports } from './messages.ts';
import { giveWay } from './niceness.ts';
import { startThread } from './thread.ts';

/** How the intake thread is started. */
interface IntakeThread {
  /** Another program for the thread, for tests. */
  program?: string;
  /** The least niceness of the calling thread once the intake runs. */
  engineNiceness?: number;
}

/**
 * Where requests are answered: in a thread of its own, or in the engine's thread with its clock and database,
 * for tests.
 */
export type IntakePlace = 'here' | IntakeThread;

/**
 * Three semi-spaces of 4 MB. Node's default is 48 MB, which the thread would fill before its first collection. Bodies
 * are outside of the heap.
 */
const YOUNG_GENERATION_MB = 12;
/**
 * V8's flag counts more than a thread's own limit, and the image and `npm start` set it for the engine's thread. A
 * heap keeps the value that it began with, and no other thread begins later.
 */
const OWN_LIMIT = '--max-semi-space-size=0';

/**
 * Starts to answer requests.
 * @param secrets the app's secrets by name
 * @throws CountersignError if a port that the operator chose is taken; then nothing listens
 */
export async function startIntake(
  platform: Platform,
  outagePolicy: OutagePolicy,
  {
    config,
    secrets,
    place = {},
    whyNotWorking = () => undefined,
  }: {
    config: AppConfig;
    secrets: Readonly<Record<string, string>>;
    place?: IntakePlace | undefined;
    /** Why another process does the work, for people. */
    whyNotWorking?: () => string | undefined;
  },
): Promise<Listening> {
  const { storage, queue, clock, log } = platform;
  const inboxPath = inboxOf(config.databaseUrl);
  // Two threads cannot share a database that each of them creates.
  if (place === 'here' || inboxPath === undefined) {
    const { health, ...reports } = engineReports(platform, outagePolicy, whyNotWorking);
    const engine = { ...reports, silentMs: () => 0 };
    const check = () => storage.check();
    const healthOfAll = () => appHealth({ check, engine, health }, log);
    const startStudio = async () =>
      place !== 'here' && isPostgres(config.databaseUrl)
        ? startStudioThread({ config, secrets }, healthOfAll)
        : (await import('../studio/run.ts')).startStudioHere({ config, secrets }, platform, healthOfAll);
    const { web, studio } = config.roles ?? ALL_ROLES;
    return listenForRequests(config, {
      recorder: web ? recordIn(storage, queue) : undefined,
      check,
      engine,
      studio: studio && config.studio ? studioGate(startStudio) : undefined,
      clock,
      log,
    });
  }
  return takeOver(inboxPath, platform, outagePolicy, (take) => {
    const { host, port, webhookSecret, metricsAccess, logLevel, logFormat } = config;
    const settings = { host, port, webhookSecret, metricsAccess };
    const studio = config.studio && { config, secrets };
    return startIntakeThread({ settings, logLevel, logFormat, secrets, studio, inboxPath }, place, take);
  });
}

export async function startIntakeThread(
  start: Omit<IntakeStart, 'heartbeat'>,
  { program = 'intake-thread', engineNiceness }: IntakeThread,
  take: TakeFromIntake,
): Promise<Peer & Listening> {
  const heartbeat = createHeartbeat();
  const stopBeating = beat(heartbeat);
  try {
    const workerData: IntakeStart = { ...start, heartbeat };
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
    setFlagsFromString(OWN_LIMIT);
    const thread = await startThread<Omit<Listening, 'close'>, FromIntake, FromEngine>(
      program,
      { name: 'intake', workerData, resourceLimits },
      take,
    );
    if (engineNiceness !== undefined) giveWay(engineNiceness);
    const { started, send, close } = thread;
    return { ...started, send, close: () => close().finally(stopBeating) };
  } catch (error) {
    stopBeating();
    throw error;
  }
}

/** Connects the engine with an intake that runs in the thread that started this one. */
export function connectIntake(
  platform: Platform,
  outagePolicy: OutagePolicy,
  { inboxPath, port }: { inboxPath: string; port: MessagePort },
): Promise<Peer> {
  return takeOver(inboxPath, platform, outagePolicy, async (take) => {
    const send = (message: FromEngine) => port.postMessage(message);
    const onMessage = (message: FromIntake | Close) => {
      if (message.kind !== 'close') take(message, send);
    };
    port.on('message', onMessage);
    return { send, close: async () => void port.off('message', onMessage) };
  });
}

/** The intake, in the other thread. */
interface Peer {
  send(message: FromEngine): void;
  close(): Promise<void>;
}

/** Moves to the database what the intake records, and answers its questions. */
async function takeOver<Intake extends Peer>(
  inboxPath: string,
  platform: Platform,
  outagePolicy: OutagePolicy,
  connect: (take: TakeFromIntake) => Promise<Intake>,
): Promise<Intake> {
  const { storage, queue, clock, log } = platform;
  await readyInbox(inboxPath, storage);
  let drain: Drain | undefined;
  const intake = await connect(
    answerIntake(engineReports(platform, outagePolicy), { onRecorded: () => drain?.wake(), log }),
  );
  const opened = createDrain({
    inbox: readInbox(inboxPath),
    storage,
    queue,
    onTaken: (last) => intake.send({ kind: 'taken', last }),
    clock,
    log,
  });
  try {
    // What the previous process accepted must be known before missed deliveries are asked for.
    await opened.drain();
  } catch (error) {
    await Promise.all([intake.close(), opened.stop()]);
    throw error;
  }
  drain = opened;
  drain.wake();
  return {
    ...intake,
    async close() {
      await intake.close();
      await opened.stop();
    },
  };
}

/** Before anything is recorded: the file may be an older one than the database. */
async function readyInbox(path: string, storage: Platform['storage']): Promise<void> {
  const inbox = openInbox(path);
  try {
    inbox.startAfter(await takenFrom(inbox, storage));
  } finally {
    inbox.close();
  }
}

function engineReports(
  { config, storage, github, queue, metrics, webhookWatch, clock, log }: Platform,
  outagePolicy: OutagePolicy,
  whyNotWorking: () => string | undefined = () => undefined,
): MakesReports {
  const isOff = config.merging === 'off';
  return {
    async metrics() {
      await metrics.collect({
        storage,
        clock,
        log,
        rateLimits: github.rateLimits,
        signedOut: github.signedOut,
        webhookOutage: webhookWatch.outage,
        waitingForGitHub: outagePolicy.waiting,
        slots: () => queue.slots(),
        disks: () => diskRooms(config),
        skillIndexes: async () =>
          config.skillIndexes && indexStatus(storage.read, config.skillIndexes.indexes),
      });
      return metrics.registry.metrics();
    },
    async readiness() {
      const failures = await failedChecks({ database: () => storage.check() }, log);
      return {
        failures: publicNames(failures),
        warnings: [
          ...[whyNotWorking()].filter((why) => why !== undefined),
          ...(isOff ? [MERGING_IS_OFF] : []),
          ...github.signedOut().map(signInWaits),
          ...[webhookWatch.outage()].flatMap((outage) => (outage ? [wordsOf(outage.finding).summary] : [])),
        ],
      };
    },
    health: async () => ({
      at: clock.now(),
      rateLimits: github.rateLimits(),
      signedOut: github.signedOut(),
      waiting: [...outagePolicy.waiting()],
      slots: queue.slots(),
    }),
  };
}
