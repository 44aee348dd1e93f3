import type { z } from 'zod';
import { sentenceBy } from './sentence.ts';

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

/** `findings[0].severity`, as programs write it. */
function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}
