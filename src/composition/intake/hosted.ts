import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OutagePolicy } from '../../engine/jobs/outage-policy.ts';
import { createIntake, type Intake, recordIn } from '../../entrypoints/webhook/delivery/intake.ts';
import { close } from '../../entrypoints/webhook/listen.ts';
import { countAnswers } from '../../entrypoints/webhook/metrics-page.ts';
import { answerPages, type ProbotEvent, recordEvents } from '../../entrypoints/webhook/probot.ts';
import { pagesOf } from '../../entrypoints/webhook/server.ts';
import type { Platform } from '../platform.ts';
import { listenForMetrics } from './listen.ts';
import { engineReports } from './start.ts';

export interface HostedIntake {
  record(event: ProbotEvent): Promise<void>;
  answer(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  metricsUrl: string | undefined;
  /** The server of the webhooks is somebody else's and goes on. */
  close(): Promise<void>;
}

/** The intake behind a server of somebody else's: in the engine's thread, and in its database. */
export async function startHostedIntake(
  platform: Platform,
  outagePolicy: OutagePolicy,
  traffic: Traffic,
): Promise<HostedIntake> {
  const { config, storage, queue, clock, log } = platform;
  const { own, token } = config.metricsAccess;
  const answers = countAnswers();
  const engine = { ...engineReports(platform, outagePolicy), silentMs: () => 0 };
  const ownMetrics =
    own && (await listenForMetrics(own, { answers, engineMetrics: engine.metrics, token, log }));
  traffic.onQuiet(() => queue.wake());
  const intake = traffic.counted(
    createIntake({
      recorder: recordIn(storage, {
        enqueue: (tx, ...jobs) => queue.enqueue(tx, ...jobs),
        // The engine gives way to what arrives.
        hasRoomFor: () => false,
        wake: traffic.wakeLater,
      }),
      clock,
    }),
  );
  const pages = pagesOf({
    health: { database: () => storage.check() },
    engine,
    answers,
    metricsToken: token,
    log,
  });
  return {
    record: recordEvents({ intake, answers, log }),
    answer: answerPages(pages, log),
    metricsUrl: ownMetrics?.url,
    async close() {
      traffic.stop();
      if (ownMetrics) await close(ownMetrics.server);
    },
  };
}

/** Deliveries count as a stream while the pause between two is shorter than this, in milliseconds. */
const PAUSE_MS = 10;
/** The engine takes up work at least so often, in milliseconds, however many deliveries arrive. */
const LONGEST_MS = 250;

/**
 * Whether deliveries are arriving. The engine shares the thread with the server, so it gives way to a stream of them:
 * GitHub waits 10 s for an answer, and nobody waits so impatiently for a review.
 */
export interface Traffic {
  isBusy(): boolean;
  /** Calls the function after each stream, and now and then during a long one. */
  onQuiet(listener: () => void): void;
  /** Instead of a call for each commit. */
  wakeLater(): void;
  counted(intake: Intake): Intake;
  stop(): void;
}

export function createTraffic(now = () => performance.now()): Traffic {
  let underWay = 0;
  let begun = 0;
  let timer: NodeJS.Timeout | undefined;
  let listener = () => {};

  function end(): void {
    timer = undefined;
    listener();
  }
  function expect(): void {
    if (timer) timer.refresh();
    else timer = setTimeout(end, PAUSE_MS);
    if (now() - begun < LONGEST_MS) return;
    begun = now();
    listener();
  }

  return {
    isBusy: () => underWay > 0 || timer !== undefined,
    onQuiet(given) {
      listener = given;
    },
    wakeLater: expect,
    counted: (intake) => ({
      async accept(webhook) {
        if (underWay === 0 && !timer) begun = now();
        underWay++;
        try {
          return await intake.accept(webhook);
        } finally {
          underWay--;
          expect();
        }
      },
    }),
    stop: () => clearTimeout(timer),
  };
}
