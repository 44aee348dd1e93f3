import { type DestinationStream, pino } from 'pino';
import { type Log, type LogLevel, markRedacting } from './log.ts';
import { redactedFields } from './redact/fields.ts';
import { redact } from './redact/redact.ts';

/**
 * JSON lines without secrets on standard error. Standard output stays free for the output of commands. A file
 * of its own, because most commands log nothing and loading pino takes as long as starting Node.
 */
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
  return markRedacting(log);
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
