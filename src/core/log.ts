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
  const stderr = pino.destination(2);
  const write = (line: string) => stderr.write(inert(line));
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/**
 * JSON escapes control characters below U+0020 only. The rest can steer a terminal (U+009B begins a command as `ESC [` does) or
 * show a line in another order; they stand within texts only, so that the line stays the same JSON.
 */
function inert(line: string): string {
  return line.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
