import { type DestinationStream, pino } from 'pino';
import { redactedFields } from './redact/fields.ts';
import { redact } from './redact/redact.ts';

/** Structured log; field names are the words of the vocabulary (`delivery`, `run`, `session`, `effect`, …). */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const redacting = new WeakSet<Log>();

/** JSON lines without secrets on standard error, so that a command's own answer on standard output stays clean. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination(2)): Log {
  const log: Log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are plain data by the time pino sees them; its own serializer would fold their causes into one text.
      serializers: { err: (value) => value },
      hooks: {
        // Called for the lines that are written only. Pino's own `redact` hides fields by name; a secret can be in any.
        logMethod(given, write) {
          const [fields, message] = given as unknown as Parameters<Log['info']>;
          write.call(this, redactedFields(fields), redact(message));
        },
      },
    },
    { write: (line: string) => destination.write(inert(line)) },
  );
  redacting.add(log);
  return log;
}

/** The log with all that is given to it redacted. One from `createLog` is so already. */
export function redactedLog(log: Log): Log {
  if (redacting.has(log)) return log;
  const cleaned: Log = {
    debug: (fields, message) => log.debug(redactedFields(fields), redact(message)),
    info: (fields, message) => log.info(redactedFields(fields), redact(message)),
    warn: (fields, message) => log.warn(redactedFields(fields), redact(message)),
    error: (fields, message) => log.error(redactedFields(fields), redact(message)),
  };
  redacting.add(cleaned);
  return cleaned;
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
redacting.add(silentLog);
