import { z } from 'zod';
import type { Json } from '../core/canonical.ts';
import { parseDuration } from '../core/duration.ts';
import { type Fault, nearest } from '../core/fault.ts';
import { memberOf } from './outline.ts';
import type { YamlSource } from './positions.ts';

/**
 * Checks a file against a schema and says everything that is wrong in sentences, each at its place in the file.
 * A schema's own `error` text wins over the sentences made here.
 */
export function checkShape<T>(
  schema: z.ZodType<T>,
  source: Pick<YamlSource, 'value' | 'fault'>,
): { value: T; faults: [] } | { value?: undefined; faults: Fault[] } {
  const result = schema.safeParse(source.value, { error: sentenceBy(nameOf) });
  if (result.success) return { value: result.data, faults: [] };
  return {
    faults: result.error.issues.flatMap((issue) => {
      if (issue.code !== 'unrecognized_keys') return [source.fault(issue.path, issue.message)];
      const messages = issue.message.split('\n');
      return issue.keys.map((key, index) =>
        source.fault([...issue.path, key], messages[index] ?? issue.message, { part: 'key' }),
      );
    }),
  };
}

/**
 * Checks a value that lies in no file, such as what a model or a program gave back, and says everything that is wrong, each at its
 * place: `findings[0].severity: cannot be "huge"; allowed: critical, high, …`.
 */
export function checkValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
): { ok: true; value: T } | { ok: false; faults: string[] } {
  const result = schema.safeParse(value, { error: sentenceBy(({ length }) => (length === 0 ? 'it' : '')) });
  if (result.success) return { ok: true, value: result.data };
  return {
    ok: false,
    faults: result.error.issues.map(({ path, message }) => {
      const said = message.trim().replaceAll('\n', '; ');
      return path.length === 0 ? said : `${placeOf(path)}: ${said}`;
    }),
  };
}

/** Faults in the order in which a reader of the file meets them, each once. */
export function inFileOrder(faults: readonly Fault[]): Fault[] {
  const sorted = faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return sorted.filter((fault, index) => {
    const previous = sorted[index - 1];
    return (
      previous?.line !== fault.line || previous.column !== fault.column || previous.message !== fault.message
    );
  });
}

/** `"pr.open" is not …: did you mean "pr.opened"? Allowed: …`, for any closed list of words. */
export function notAllowed(said: string, allowed: readonly string[], word = said): string {
  const meant = nearest(word, allowed);
  const list = allowed.length > 0 ? allowed.join(', ') : 'none';
  return meant ? `${said}: did you mean "${meant}"? Allowed: ${list}` : `${said}; allowed: ${list}`;
}

/** A length of time such as `30m`, as milliseconds. */
export function duration(longest: string): z.ZodType<number, string> {
  const limit = parseDuration(longest) ?? 0;
  const message = `a length of time is a number and a unit, such as 90s, 30m, 2h or 7d, and at most ${longest}`;
  return z
    .string({ error: message })
    .regex(/^\d{1,6}[smhd]$/, { error: message, abort: true })
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== undefined && ms <= limit) return ms;
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    });
}

/** A list whose brackets may be left out when it has one entry. */
export function listOrOne<T extends z.ZodType>(entry: T, { least = 1 } = {}) {
  return z
    .preprocess(
      (value) => (value === undefined || Array.isArray(value) ? value : [value]),
      z.array(entry).min(least).max(50),
    )
    .meta({ listOrOne: true });
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
};

/** @param nameOf what the value at a path is called, where a sentence begins with it. */
function sentenceBy(nameOf: (path: readonly PropertyKey[]) => string) {
  return (issue: z.core.$ZodRawIssue) => sentence(issue, nameOf(issue.path ?? []));
}

function sentence(issue: z.core.$ZodRawIssue, name: string): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `${name} is missing`;
      return `${name} must be ${KINDS[issue.expected] ?? issue.expected}, not ${shown(issue.input)}`;
    case 'invalid_value': {
      if (issue.input === undefined) return `${name} is missing`;
      const allowed = issue.values.map(String);
      return notAllowed(`${name} cannot be ${shown(issue.input)}`, allowed, String(issue.input));
    }
    case 'invalid_union': {
      if (!issue.discriminator || !Array.isArray(issue.options)) return undefined;
      const said = memberOf(issue.input as Json, issue.discriminator);
      if (said === undefined) return `${name} is missing`;
      const word = typeof said === 'string' ? said : '';
      return notAllowed(`${name} cannot be ${shown(said)}`, issue.options.map(String), word);
    }
    case 'unrecognized_keys': {
      const allowed = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      return issue.keys.map((key) => notAllowed(`unknown key "${key}"`, allowed, key)).join('\n');
    }
    case 'too_big':
      return `${name} ${limit('at most', issue.maximum, issue.origin)}`;
    case 'too_small':
      return `${name} ${limit('at least', issue.minimum, issue.origin)}`;
    default:
      return undefined;
  }
}

function limit(words: string, bound: number | bigint, origin: string): string {
  if (origin === 'array') return `must have ${words} ${bound} ${bound === 1 ? 'entry' : 'entries'}`;
  if (origin === 'string') return `must have ${words} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  return `must be ${words} ${bound}`;
}

function nameOf(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'the file';
  if (typeof last !== 'number') return `"${String(last)}"`;
  const list = path.at(-2);
  return list === undefined ? `entry ${last + 1}` : `entry ${last + 1} of "${String(list)}"`;
}

/** `findings[0].severity`, as programs write it. */
function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
