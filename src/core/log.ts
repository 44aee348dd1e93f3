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

/** `json` is for programs, one document in each line; `pretty` is for people. */
export const LOG_FORMATS = ['pretty', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

const redacting = new WeakSet<Log>();

/** Remembers that the log redacts every line itself, so that nothing is redacted twice. */
export function markRedacting<T extends Log>(log: T): T {
  redacting.add(log);
  return log;
}

/** The same log with every line redacted. A log that redacts already is returned as it is. */
export function redactedLog(log: Log): Log {
  if (redacting.has(log)) return log;
  return markRedacting({
    debug: (fields, message) => log.debug(redactedFields(fields), redact(message)),
    info: (fields, message) => log.info(redactedFields(fields), redact(message)),
    warn: (fields, message) => log.warn(redactedFields(fields), redact(message)),
    error: (fields, message) => log.error(redactedFields(fields), redact(message)),
  });
}

export const silentLog: Log = markRedacting({ debug() {}, info() {}, warn() {}, error() {} });
