import type { z } from 'zod';
import { sentenceBy } from './sentence.ts';

/** Told of one value; the first ones are enough to see what was misunderstood. */
const MOST_DIAGNOSTICS = 8;
/** In characters, of all of them. */
const LONGEST_DETAIL = 1_000;

/**
 * Checks a value that lies in no file, such as what a model or a program gave back, and says what is wrong, each at its
 * place: `findings[0].severity: cannot be "huge"; allowed: critical, high, …`.
 */
export function checkValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
): { ok: true; value: T } | { ok: false; detail: string } {
  const result = schema.safeParse(value, { error: sentenceBy(({ length }) => (length === 0 ? 'it' : '')) });
  if (result.success) return { ok: true, value: result.data };
  const diagnostics = result.error.issues.slice(0, MOST_DIAGNOSTICS).map(({ path, message }) => {
    const said = message.slice(0, LONGEST_DETAIL).trim().replaceAll('\n', '; ');
    return path.length === 0 ? said : `${placeOf(path)}: ${said}`;
  });
  return { ok: false, detail: diagnostics.join('; ').slice(0, LONGEST_DETAIL) };
}

/** `findings[0].severity`, as programs write it. */
function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}
