import { redact, redactMember } from './redact.ts';

const DEEPEST = 8;
const MAX_MEMBERS = 200;
/** In characters. A longer text is probably a file's content. */
const LONGEST = 16_384;

/**
 * Turns the fields of a log line into plain data without secrets: every string at any depth, keys, and errors
 * with their message, stack, own members and causes. Limits depth, width and length, and handles values that
 * contain themselves.
 */
export function redactedFields(fields: object): object {
  return members(fields, new Set(), 0);
}

function plain(value: unknown, ancestors: ReadonlySet<object>, depth: number): unknown {
  if (typeof value === 'string') return clipped(redact(value));
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return clipped(redact(value.href));
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (ancestors.has(value)) return '(contains itself)';
  if (depth >= DEEPEST) return '(more)';
  const nested = new Set([...ancestors, value]);
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, MAX_MEMBERS).map((item) => plain(item, nested, depth + 1));
  }
  return members(value instanceof Map ? Object.fromEntries(value) : value, nested, depth + 1);
}

function members(value: object, ancestors: ReadonlySet<object>, depth: number): object {
  const entries: [string, unknown][] = value instanceof Error ? ofError(value) : Object.entries(value);
  return Object.fromEntries(
    entries
      .slice(0, MAX_MEMBERS)
      .map(([key, member]) => [
        redact(key),
        typeof member === 'string' ? clipped(redactMember(key, member)) : plain(member, ancestors, depth),
      ]),
  );
}

/** An error under the names that pino uses. The stack repeats the message. */
function ofError(error: Error): [string, unknown][] {
  const { name, message, stack, cause } = error;
  const known: [string, unknown][] = [
    ['type', name],
    ['message', message],
    ['stack', stack],
    ...(cause === undefined ? [] : ([['cause', cause]] satisfies [string, unknown][])),
    ...(error instanceof AggregateError ? ([['errors', error.errors]] satisfies [string, unknown][]) : []),
  ];
  const extra = Object.entries(error).filter(
    ([key]) => !known.some(([knownKey]) => knownKey === key) && key !== 'name',
  );
  return [...known, ...extra];
}

function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`;
}
