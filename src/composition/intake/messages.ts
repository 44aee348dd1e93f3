import type { LogFormat, LogLevel } from '../../core/log.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { EngineHealth } from '../../ports/app-health.ts';
import type { StudioStart } from '../studio/messages.ts';
import type { IntakeSettings } from './listen.ts';

/** What both threads share. */
export interface Shared {
  /** The file that deliveries are recorded in. */
  inboxPath: string;
  /** When the engine's thread last ran its event loop: one number, milliseconds of the monotonic clock. */
  heartbeat: SharedArrayBuffer;
}

/** What the intake thread needs to start. */
export interface IntakeStart extends Shared {
  settings: IntakeSettings;
  logLevel: LogLevel;
  logFormat?: LogFormat | undefined;
  /** Without it, there is no browser interface. */
  studio?: StudioStart | undefined;
  /** The app's secrets by name, so that no line of the thread's log shows one. */
  secrets: Readonly<Record<string, string>>;
}

/** What the intake asks the engine for, with the type of the answer. */
export interface Reports {
  metrics: Awaited<ReturnType<EngineReports['metrics']>>;
  readiness: Awaited<ReturnType<EngineReports['readiness']>>;
  health: EngineHealth;
}

/** How the engine makes them. */
export type MakesReports = { [R in keyof Reports]: () => Promise<Reports[R]> };

export type FromIntake = { kind: 'recorded' } | { kind: 'ask'; id: number; report: keyof Reports };

export type FromEngine =
  | { kind: 'report'; id: number; value: Reports[keyof Reports] }
  /** The engine could not make the report; its log says why. */
  | { kind: 'no_report'; id: number }
  /** The database has everything that the inbox recorded up to this number. */
  | { kind: 'taken'; last: number };

/** From a thread to the one that started it. */
export type FromThread<Started> =
  | { kind: 'started'; as: Started }
  /** It cannot start; the error is one for people. */
  | { kind: 'refused'; code: string; message: string };

/** To a thread from the one that started it. */
export interface Close {
  kind: 'close';
}
