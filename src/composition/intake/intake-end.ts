import { openInbox } from '../../adapters/sqlite/inbox.ts';
import { unreachable } from '../../core/errors.ts';
import type { Recorder } from '../../entrypoints/webhook/delivery/intake.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { EngineHealth } from '../../ports/app-health.ts';
import { silentMs } from './engine-end.ts';
import type { FromEngine, FromIntake, Reports, Shared } from './messages.ts';

/** The longest wait for a busy engine's report, in milliseconds. After that, the previous one has to do. */
const REPORT_MS = 5;

/** The inbox, and the engine as the intake's thread knows it. */
export interface IntakeEnd {
  recorder: Recorder;
  /** Rejects with a sentence if nothing can be recorded. */
  check(): Promise<void>;
  engine: EngineReports;
  /** What the engine says of GitHub and of its work. */
  health(): Promise<EngineHealth>;
  /** Tells the engine that there are new deliveries. */
  onRecorded(): void;
  take(message: FromEngine): void;
  close(): void;
}

/** @throws CountersignError `storage.unavailable` if the inbox cannot be opened */
export function openIntakeEnd(
  { inboxPath, heartbeat }: Shared,
  send: (message: FromIntake) => void,
): IntakeEnd {
  const inbox = openInbox(inboxPath);
  inbox.allocateLog();
  const reports = askOver(send);
  return {
    recorder: {
      /** The inbox knows only what the database has not taken yet, so a redelivery counts as new. The database knows better. */
      async record(deliveries) {
        const known = new Set<string>();
        inbox.record(deliveries.filter(({ guid }) => !known.has(guid) && known.add(guid)));
        return known;
      },
    },
    check: () => inbox.check(),
    engine: {
      metrics: () => reports.ask('metrics'),
      readiness: () => reports.ask('readiness'),
      silentMs: () => silentMs(heartbeat),
    },
    health: () => reports.ask('health'),
    onRecorded: () => send({ kind: 'recorded' }),
    take(message) {
      switch (message.kind) {
        case 'report':
        case 'no_report':
          return reports.take(message);
        case 'taken':
          return inbox.forget(message.last);
        default:
          return unreachable(message);
      }
    },
    close: () => inbox.close(),
  };
}

type Answer = Extract<FromEngine, { kind: 'report' | 'no_report' }>;

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
