import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { hrtime } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { AppConfig } from '../../config/config.ts';
import { CountersignError, unreachable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { OWN_CODE, OWN_EXTENSION } from '../../core/package-root.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { IntakeSettings, Listening } from './listen.ts';
import type { FromIntake, IntakeStart, ToIntake } from './messages.ts';

const PROGRAM = join(OWN_CODE, `intake-thread.${OWN_EXTENSION}`);

/** How often the engine's thread says that it still runs, in milliseconds. */
const HEARTBEAT_MS = 1_000;

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

export interface IntakeThreadOptions {
  secrets: IntakeStart['secrets'];
  inboxPath: string;
  engine: Omit<EngineReports, 'silentMs'>;
  /** Called after each commit of new deliveries. */
  onRecorded(): void;
  log: Log;
  /** Another program for the thread, for tests. */
  program?: string;
  /**
   * The least niceness of the calling thread once the intake runs, on Linux. Threads and processes that it starts
   * later inherit it.
   */
  engineNiceness?: number;
}

/**
 * Listens for requests in a thread of its own, so that a webhook never waits for the engine. Resolves once it
 * listens. If the thread fails later, the error is thrown as an uncaught one and ends the process: without
 * the intake, GitHub's deliveries would be lost one by one.
 * @throws CountersignError if it cannot listen
 */
export interface IntakeThread extends Listening {
  /** Tells the intake that the database has everything up to this number. */
  taken(last: number): void;
}

export async function startIntakeThread(
  config: IntakeSettings & Pick<AppConfig, 'logLevel'>,
  { secrets, inboxPath, engine, onRecorded, log, program = PROGRAM, engineNiceness }: IntakeThreadOptions,
): Promise<IntakeThread> {
  const heartbeat = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const lastBeat = new Float64Array(heartbeat);
  const beat = () => {
    lastBeat[0] = monotonicMs();
  };
  beat();
  const { logLevel, host, port, webhookSecret, metricsAccess } = config;
  const start: IntakeStart = {
    settings: { host, port, webhookSecret, metricsAccess },
    logLevel,
    secrets,
    heartbeat,
    inboxPath,
  };
  setFlagsFromString(OWN_LIMIT);
  const worker = new Worker(program, {
    name: 'intake',
    workerData: start,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  const beating = setInterval(beat, HEARTBEAT_MS);
  const listening = Promise.withResolvers<Omit<Listening, 'close'>>();
  const closed = Promise.withResolvers<void>();
  let isClosing = false;

  const send = (message: ToIntake) => worker.postMessage(message);
  worker.on('message', (message: FromIntake) => {
    switch (message.kind) {
      case 'listening':
        return listening.resolve({ url: message.url, metricsUrl: message.metricsUrl });
      case 'refused':
        isClosing = true;
        return listening.reject(new CountersignError(message.code, message.message));
      case 'recorded':
        return onRecorded();
      case 'ask':
        return void engine[message.report]().then(
          (value) => send({ kind: 'report', id: message.id, value }),
          (err) => {
            log.error({ err }, 'the engine could not report its state');
            send({ kind: 'no_report', id: message.id });
          },
        );
      default:
        return unreachable(message);
    }
  });
  // Without a listener, the error is thrown here and ends the process, as it should.
  worker.on('exit', (code) => {
    clearInterval(beating);
    closed.resolve();
    if (!isClosing) throw new Error(`the intake thread ended by itself with ${code}`);
  });

  const found = await listening.promise.catch(async (error: unknown) => {
    await closed.promise;
    throw error;
  });
  // Elsewhere than on Linux, the whole process has one niceness: setpriority(2), "C library/kernel differences".
  // An operator may have given the process a higher one, which only root may lower.
  if (engineNiceness !== undefined && process.platform === 'linux')
    setPriority(Math.max(engineNiceness, getPriority()));
  return {
    ...found,
    taken: (last) => send({ kind: 'taken', last }),
    async close() {
      isClosing = true;
      send({ kind: 'close' });
      await closed.promise;
    },
  };
}

/** Milliseconds of a clock that all threads of the process share, unlike `performance.now()`. */
export function monotonicMs(): number {
  return Number(hrtime.bigint() / 1_000_000n);
}
