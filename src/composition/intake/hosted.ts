import type { IncomingMessage, ServerResponse } from 'node:http';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { answerFetches } from '../../adapters/octokit/fetch-elsewhere.ts';
import type { ProbotApp } from '../../adapters/octokit/probot.ts';
import type { AppKey } from '../../adapters/octokit/sign-in.ts';
import type { Fetch } from '../../adapters/octokit/transport.ts';
import type { BaseConfig } from '../../config/config.ts';
import { systemClock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { withoutRepeats } from '../../core/outage-log.ts';
import { createIntake } from '../../entrypoints/webhook/delivery/intake.ts';
import { close } from '../../entrypoints/webhook/listen.ts';
import { countAnswers } from '../../entrypoints/webhook/metrics-page.ts';
import { answerPages, type ProbotEvent, recordEvents } from '../../entrypoints/webhook/probot.ts';
import { pagesOf } from '../../entrypoints/webhook/server.ts';
import { NEEDS_A_FILE } from '../../messages/cli/process.ts';
import { inboxOf } from '../storage.ts';
import { createHeartbeat } from './engine-end.ts';
import { type IntakeEnd, openIntakeEnd } from './intake-end.ts';
import { listenForMetrics } from './listen.ts';
import type { FromEngine, FromIntake, Shared } from './messages.ts';
import { startThread } from './thread.ts';

/** What the engine's thread needs to start. */
export interface EngineStart extends Shared {
  config: BaseConfig;
  key: AppKey;
  /** Leads to the server's own `fetch`. */
  fetches?: MessagePort;
  /** Whether the server's log keeps debug lines. */
  logsDebug: boolean;
}

/** A line of the engine's log, without secrets. */
export interface LogLine {
  kind: 'log';
  level: keyof Log;
  fields: object;
  message: string;
}

/** The app in a server of somebody else's, which receives the webhooks. */
export interface HostedApp {
  /** Resolves once the delivery is stored durably. */
  record(event: ProbotEvent): Promise<void>;
  /** Answers a request for one of the app's pages; `false` for any other. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Waits for the work under way, and closes the database. Deliveries that arrive meanwhile are still recorded. */
  stop(): Promise<void>;
}

/** Three semi-spaces of 2 MB, as for the engine of the app's own server. Node's default is 48 MB. */
const YOUNG_GENERATION_MB = 6;

/**
 * Starts the app in a server of somebody else's: the intake in the calling thread, which is the server's, and the engine in
 * one of its own. The engine does not keep the process running.
 * @throws CountersignError with a message for people if it cannot start
 */
export async function startHosted(
  config: BaseConfig,
  { key, fetch }: ProbotApp,
  { log: givenLog, logsDebug }: { log: Log; logsDebug: boolean },
): Promise<HostedApp> {
  const inboxPath = inboxOf(config.databaseUrl);
  if (inboxPath === undefined) throw new CountersignError('config.needs_a_file', NEEDS_A_FILE);
  const shared: Shared = { inboxPath, heartbeat: createHeartbeat() };
  const log = withoutRepeats(givenLog, systemClock);
  const fetches = fetch && forwarding(fetch);
  const workerData: EngineStart = { ...shared, config, key, logsDebug, ...(fetches && { fetches }) };
  let end: IntakeEnd | undefined;
  const engine = await startThread<undefined, FromEngine | LogLine, FromIntake>(
    'engine-thread',
    {
      name: 'engine',
      workerData,
      transferList: fetches ? [fetches] : [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    },
    (message) => {
      if (message.kind === 'log') givenLog[message.level](message.fields, message.message);
      else end?.take(message);
    },
  );
  engine.unref();
  try {
    const opened = openIntakeEnd(shared, engine.send);
    end = opened;
    return await serve(opened);
  } catch (error) {
    await engine.close();
    end?.close();
    throw error;
  }

  async function serve(opened: IntakeEnd): Promise<HostedApp> {
    const { own, token } = config.metricsAccess;
    const answers = countAnswers();
    const { engine: reports } = opened;
    const ownMetrics =
      own && (await listenForMetrics(own, { answers, engineMetrics: reports.metrics, token, log }));
    const intake = createIntake({ ...opened, clock: systemClock });
    const pages = pagesOf({
      health: { database: opened.check },
      engine: reports,
      answers,
      metricsToken: token,
      log,
    });
    ownMetrics?.server.unref();
    return {
      record: recordEvents({ intake, answers, log }),
      answer: answerPages(pages, log),
      async stop() {
        await Promise.all([engine.close(), ownMetrics && close(ownMetrics.server)]);
        opened.close();
      },
    };
  }
}

/** @returns the port for the engine's thread */
function forwarding(fetch: Fetch): MessagePort {
  const { port1, port2 } = new MessageChannel();
  answerFetches(port1, fetch);
  return port2;
}
