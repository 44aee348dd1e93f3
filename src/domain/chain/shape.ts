import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { parseDuration } from '../../core/duration.ts';
import { memberOf } from '../../core/mapping.ts';
import { sentenceBy } from '../../core/sentence.ts';
import type { YamlSource } from './positions.ts';

/**
 * Checks a file against a schema. Each diagnostic is a sentence with its position in the file. A schema's own
 * `error` text takes precedence over the sentences made here.
 * @param counts false for an issue that is no mistake
 */
export function checkShape<T>(
  schema: z.ZodType<T>,
  source: Pick<YamlSource, 'value' | 'diagnostic'>,
  counts: (issue: z.core.$ZodIssue) => boolean = () => true,
): { value: T; diagnostics: [] } | { value?: undefined; diagnostics: Diagnostic[] } {
  const written = (path: readonly PropertyKey[]) => asWritten(source.value, path);
  const result = schema.safeParse(source.value, { error: sentenceBy((path) => nameOf(written(path))) });
  if (result.success) return { value: result.data, diagnostics: [] };
  return {
    diagnostics: result.error.issues.filter(counts).flatMap(({ path: found, ...issue }) => {
      const path = written(found);
      if (issue.code !== 'unrecognized_keys') return [source.diagnostic(path, issue.message)];
      const messages = issue.message.split('\n');
      return issue.keys.map((key, index) =>
        source.diagnostic([...path, key], messages[index] ?? issue.message, { part: 'key' }),
      );
    }),
  };
}

/** Diagnostics in file order, without duplicates. */
export function inFileOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const sorted = diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return sorted.filter((diagnostic, index) => {
    const previous = sorted[index - 1];
    return (
      previous?.line !== diagnostic.line ||
      previous.column !== diagnostic.column ||
      previous.message !== diagnostic.message
    );
  });
}

/** A duration such as `30m`, as milliseconds. */
export function duration(longest: string): z.ZodType<number, string> {
  const limit = parseDuration(longest) ?? 0;
  const message = `a length of time is a number and a unit, such as 90s, 30m, 2h or 7d, and at most ${longest}`;
  return z
    .string({ error: message })
    .regex(/^\d{1,6}[smhd]$/, { error: message, abort: true })
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== undefined && ms <= limit) return ms;
      const isZero = /^0+[smhd]$/.test(text);
      const zero = `${text} is no time at all: the shortest is 1s, and the longest ${longest}`;
      context.issues.push({ code: 'custom', message: isZero ? zero : message, input: text });
      return z.NEVER;
    });
}

/** A list that can be written without brackets if it has one entry. */
export function listOrOne<T extends z.ZodType>(entry: T, { least = 1, most = 50 } = {}) {
  return z
    .preprocess(
      (value) => (value === undefined || Array.isArray(value) ? value : [value]),
      z.array(entry).min(least).max(most),
    )
    .meta({ listOrOne: true });
}

/** The path without the positions in lists that are written without brackets. */
function asWritten(value: Json | undefined, path: readonly PropertyKey[]): PropertyKey[] {
  let at = value;
  return path.filter((key) => {
    if (typeof key === 'number' && at !== undefined && !Array.isArray(at)) return false;
    at = typeof key === 'number' && Array.isArray(at) ? at[key] : memberOf(at, String(key));
    return true;
  });
}

/** What a sentence calls the value at a path. */
export function nameOf(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'the file';
  if (typeof last !== 'number') return `"${String(last)}"`;
  const list = path.at(-2);
  return list === undefined ? `entry ${last + 1}` : `entry ${last + 1} of "${String(list)}"`;
}
