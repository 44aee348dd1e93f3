import { type DestinationStream, pino } from 'pino';
import { redactedFields } from './redact/fields.ts';
import { redact } from './redact/redact.ts';

/**
 * Structured log. Field names are the words of docs/glossary.md (`delivery`, `run`, `session`, `effect`, …).
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const redacting = new WeakSet<Log>();

/** JSON lines without secrets on standard error. Standard output stays free for the output of commands. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination(2)): Log {
  const log: Log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // `redactedFields` has turned errors into plain data. Pino's own serializer would join their causes to
      // one text.
      serializers: { err: (value) => value },
      hooks: {
        // Pino calls this only for lines that it writes. Its own `redact` option hides fields by name, but
        // any field can contain a secret.
        logMethod(given, write) {
          const [fields, message] = given as unknown as Parameters<Log['info']>;
          write.call(this, redactedFields(fields), redact(message));
        },
      },
    },
    { write: (line: string) => destination.write(escapeControls(line)) },
  );
  redacting.add(log);
  return log;
}

/** The same log with every line redacted. Logs of `createLog` redact already. */
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
 * JSON escapes only the control characters below U+0020. The others can steer a terminal (U+009B begins a
 * command as `ESC [` does) or reorder a line. They occur only inside strings, so escaping them leaves the
 * JSON's meaning unchanged.
 */
function escapeControls(line: string): string {
  return line.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
redacting.add(silentLog);
