import { styleText } from 'node:util';

const LEVELS: Readonly<Record<number, { name: string; colour: 'gray' | 'green' | 'yellow' | 'red' }>> = {
  10: { name: 'TRACE', colour: 'gray' },
  20: { name: 'DEBUG', colour: 'gray' },
  30: { name: 'INFO', colour: 'green' },
  40: { name: 'WARN', colour: 'yellow' },
  50: { name: 'ERROR', colour: 'red' },
};

/** A value that needs no quotes. */
const BARE = /^[\w./:@#+-]+$/;

/**
 * A line of the log for people: time in UTC, level, message and fields. The stack of an error follows in lines of its own.
 * @param line JSON, without secrets and control characters
 */
export function prettyLine(line: string, colours: boolean): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const { name, colour } = LEVELS[Number(level)] ?? { name: String(level), colour: 'gray' as const };
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(format, text, { validateStream: false }) : text;
  const { message, stack, ...rest } = isObject(err) ? err : { message: err };
  const shown = {
    ...fields,
    ...(message !== undefined && { err: message }),
    ...(Object.keys(rest).length > 1 && { error: rest }),
  };
  const parts = Object.entries(shown).map(([key, value]) => paint('dim', `${safe(key)}=`) + valueText(value));
  const head = [String(time).slice(11, 19), paint(colour, name.padEnd(5)), safe(String(msg)), ...parts].join(
    ' ',
  );
  return `${[head, ...stackLines(stack)].join('\n')}\n`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return BARE.test(value) ? value : safe(JSON.stringify(value));
  return safe(JSON.stringify(value) ?? '');
}

/** The frames: the first lines repeat the message. */
function stackLines(stack: unknown): string[] {
  if (typeof stack !== 'string') return [];
  return stack
    .split('\n')
    .filter((frame) => /^\s*at /.test(frame))
    .map((frame) => `    ${safe(frame.trim())}`);
}

/** Text of others cannot steer the terminal, nor begin a line of its own. */
function safe(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
