import { redact, redactMember } from './redact.ts';

const DEEPEST = 8;
const MOST_MEMBERS = 200;
/** In characters. A longer text is somebody's file, not a fact about what happened. */
const LONGEST = 16_384;

/**
 * Anything that may be given to a log as plain data without secrets: every text at any depth, keys, and errors with
 * message, stack, own members and causes. Bounded in depth, width and length, and safe for what contains itself.
 */
export function redactedFields(fields: object): object {
  return members(fields, new Set(), 0);
}

function plain(value: unknown, above: ReadonlySet<object>, depth: number): unknown {
  if (typeof value === 'string') return clipped(redact(value));
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return clipped(redact(value.href));
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (above.has(value)) return '(contains itself)';
  if (depth >= DEEPEST) return '(more)';
  const around = new Set([...above, value]);
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, MOST_MEMBERS).map((item) => plain(item, around, depth + 1));
  }
  return members(value instanceof Map ? Object.fromEntries(value) : value, around, depth + 1);
}

function members(value: object, above: ReadonlySet<object>, depth: number): object {
  const entries: [string, unknown][] = value instanceof Error ? ofError(value) : Object.entries(value);
  return Object.fromEntries(
    entries
      .slice(0, MOST_MEMBERS)
      .map(([key, member]) => [
        redact(key),
        typeof member === 'string' ? clipped(redactMember(key, member)) : plain(member, above, depth),
      ]),
  );
}

/** In the names that pino gives them; the stack begins with the message. */
function ofError(error: Error): [string, unknown][] {
  const { name, message, stack, cause } = error;
  const known: [string, unknown][] = [
    ['type', name],
    ['message', message],
    ['stack', stack],
    ...(cause === undefined ? [] : ([['cause', cause]] satisfies [string, unknown][])),
    ...(error instanceof AggregateError ? ([['errors', error.errors]] satisfies [string, unknown][]) : []),
  ];
  const own = Object.entries(error).filter(
    ([key]) => !known.some(([taken]) => taken === key) && key !== 'name',
  );
  return [...known, ...own];
}

function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`;
}
