import type { MessagePort } from 'node:worker_threads';
import { type InboxWriter, openInbox } from '../../adapters/sqlite/inbox.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { CountersignError, unreachable } from '../../core/errors.ts';
import { createLog } from '../../core/log-lines.ts';
import { withoutRepeats } from '../../core/outage-log.ts';
import { neverShow } from '../../core/redact/redact.ts';
import type { Recorder } from '../../entrypoints/webhook/delivery/intake.ts';
import { listenForRequests } from './listen.ts';
import type { FromIntake, IntakeStart, Reports, ToIntake } from './messages.ts';
import { monotonicMs } from './thread.ts';

/** The longest wait for a busy engine's report, in milliseconds. After that, the previous one has to do. */
const REPORT_MS = 5;

/** Replacements for tests. */
export interface IntakeOverrides {
  clock?: Clock;
  /** Wraps what records. */
  recorder?: (real: Recorder) => Recorder;
}

/**
 * The intake thread: the HTTP server, with a file of its own that it records in. Runs until the engine's thread
 * tells it to close.
 */
export async function runIntake(
  { settings, inboxPath, logLevel, secrets, heartbeat }: IntakeStart,
  port: MessagePort,
  overrides: IntakeOverrides = {},
): Promise<void> {
  const clock = overrides.clock ?? systemClock;
  for (const [name, value] of Object.entries(secrets)) neverShow(name, value);
  const send = (message: FromIntake) => port.postMessage(message);
  const log = withoutRepeats(createLog(logLevel), clock);
  const reports = askOver(send);
  const lastBeat = new Float64Array(heartbeat);
  const close = Promise.withResolvers<void>();
  let inbox: InboxWriter | undefined;
  port.on('message', (message: ToIntake) => {
    switch (message.kind) {
      case 'report':
      case 'no_report':
        return reports.take(message);
      case 'taken':
        return inbox?.forget(message.last);
      case 'close':
        return close.resolve();
      default:
        return unreachable(message);
    }
  });

  try {
    const opened = openInbox(inboxPath);
    opened.allocateLog();
    inbox = opened;
    const real = recordInInbox(opened);
    try {
      const listening = await listenForRequests(settings, {
        recorder: overrides.recorder?.(real) ?? real,
        check: () => opened.check(),
        engine: {
          metrics: () => reports.ask('metrics'),
          readiness: () => reports.ask('readiness'),
          silentMs: () => monotonicMs() - (lastBeat[0] ?? 0),
        },
        onRecorded: () => send({ kind: 'recorded' }),
        clock,
        log,
      });
      send({ kind: 'listening', url: listening.url, metricsUrl: listening.metricsUrl });
      await close.promise;
      await listening.close();
    } finally {
      opened.close();
    }
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    send({ kind: 'refused', code: error.code, message: error.message });
  } finally {
    port.close();
  }
}

/** The inbox knows only what the database has not taken yet, so a redelivery counts as new. The database knows better. */
function recordInInbox(inbox: InboxWriter): Recorder {
  return {
    async record(deliveries) {
      const known = new Set<string>();
      inbox.record(deliveries.filter(({ guid }) => !known.has(guid) && known.add(guid)));
      return known;
    },
  };
}

type Answer = Extract<ToIntake, { kind: 'report' | 'no_report' }>;

/**
 * Asks the engine's thread for reports. A probe must be answered while that thread works, so a report that
 * does not come soon is replaced by the one before. Only the first one is waited for.
 */
function askOver(send: (message: FromIntake) => void) {
  const waiting = new Map<number, (answer: Answer) => void>();
  const previous: Partial<Reports> = {};
  const pending: { [R in keyof Reports]?: Promise<Reports[R]> } = {};
  let lastId = 0;

  function request<R extends keyof Reports>(report: R): Promise<Reports[R]> {
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, (answer) => {
        delete pending[report];
        if (answer.kind === 'no_report') return reject(new Error('the engine could not report its state'));
        const value = answer.value as Reports[R];
        previous[report] = value;
        resolve(value);
      });
      send({ kind: 'ask', id, report });
    });
  }

  return {
    async ask<R extends keyof Reports>(report: R): Promise<Reports[R]> {
      const asked: Promise<Reports[R]> =
        (pending[report] as Promise<Reports[R]> | undefined) ?? request(report);
      Object.assign(pending, { [report]: asked });
      const before = previous[report];
      if (before === undefined) return asked;
      const late = Promise.withResolvers<Reports[R]>();
      const timer = setTimeout(() => late.resolve(before as Reports[R]), REPORT_MS);
      try {
        return await Promise.race([asked, late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    take(answer: Answer) {
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    },
  };
}
