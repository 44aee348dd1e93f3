import { pino } from 'pino';

/** Structured log; field names are the words of the vocabulary (`delivery`, `run`, `session`, `effect`, …). */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard error, so that a command's own answer on standard output stays clean. */
export function createLog(level: LogLevel): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
