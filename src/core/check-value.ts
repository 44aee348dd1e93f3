import type { z } from 'zod';
import { sentenceBy } from './sentence.ts';

/** The first ones are enough to see what the model or program misunderstood. */
const MAX_DIAGNOSTICS = 8;
/** In characters, of all diagnostics together. */
const LONGEST_DETAIL = 1_000;

/**
 * Checks a value that comes from no file, for example the answer of a model or a program. `detail` lists each
 * diagnostic with its path: `findings[0].severity: cannot be "huge"; allowed: critical, high, …`.
 */
export function checkValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
): { ok: true; value: T } | { ok: false; detail: string } {
  const result = schema.safeParse(value, { error: sentenceBy(({ length }) => (length === 0 ? 'it' : '')) });
  if (result.success) return { ok: true, value: result.data };
  const diagnostics = result.error.issues.slice(0, MAX_DIAGNOSTICS).map(({ path, message }) => {
    const text = message.slice(0, LONGEST_DETAIL).trim().replaceAll('\n', '; ');
    return path.length === 0 ? text : `${formatPath(path)}: ${text}`;
  });
  return { ok: false, detail: diagnostics.join('; ').slice(0, LONGEST_DETAIL) };
}

/** The path as programs write it: `findings[0].severity`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}
