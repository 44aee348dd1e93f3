import type { LogLevel } from '../../core/log.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { IntakeSettings, Listening } from './listen.ts';

/** What the intake thread needs to start. */
export interface IntakeStart {
  settings: IntakeSettings;
  /** The file that deliveries are recorded in. */
  inboxPath: string;
  logLevel: LogLevel;
  /** The app's secrets by name, so that no line of the thread's log shows one. */
  secrets: Readonly<Record<string, string>>;
  /** When the engine's thread last ran its event loop: one number, milliseconds of the monotonic clock. */
  heartbeat: SharedArrayBuffer;
}

/** What the intake asks the engine for, with the type of the answer. */
export interface Reports {
  metrics: Awaited<ReturnType<EngineReports['metrics']>>;
  readiness: Awaited<ReturnType<EngineReports['readiness']>>;
}

export type FromIntake =
  | { kind: 'listening'; url: Listening['url']; metricsUrl: Listening['metricsUrl'] }
  /** It cannot start; the error is one for people. */
  | { kind: 'refused'; code: string; message: string }
  | { kind: 'recorded' }
  | { kind: 'ask'; id: number; report: keyof Reports };

export type ToIntake =
  | { kind: 'report'; id: number; value: Reports[keyof Reports] }
  /** The engine could not make the report; its log says why. */
  | { kind: 'no_report'; id: number }
  /** The database has everything that the inbox recorded up to this number. */
  | { kind: 'taken'; last: number }
  | { kind: 'close' };
