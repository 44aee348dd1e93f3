import { isatty, WriteStream } from 'node:tty';
import { type DestinationStream, pino } from 'pino';
import { type Log, type LogFormat, type LogLevel, markRedacting } from './log.ts';
import { prettyLine } from './pretty-lines.ts';
import { redactedFields } from './redact/fields.ts';
import { redact } from './redact/redact.ts';

/**
 * Lines without secrets on standard error. Standard output stays free for the output of commands. A file
 * of its own, because most commands log nothing and loading pino takes as long as starting Node.
 * @param format without it, lines are pretty on a terminal and JSON elsewhere
 */
export function createLog(level: LogLevel, format?: LogFormat, destination?: DestinationStream): Log {
  const isTerminal = destination === undefined && isatty(2);
  // Node decides, by NO_COLOR, FORCE_COLOR and TERM. In a thread, the stream itself does not know that it is a terminal.
  const colours = isTerminal && WriteStream.prototype.getColorDepth() > 2;
  const isPretty = (format ?? (isTerminal ? 'pretty' : 'json')) === 'pretty';
  const out = destination ?? pino.destination(2);
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
    {
      write(line: string) {
        out.write(isPretty ? prettyLine(line, colours) : escapeControls(line));
      },
    },
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
