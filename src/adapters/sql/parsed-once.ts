import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { fromJson } from './columns.ts';

/** Characters of JSON that are remembered for each schema: those of the pull requests at work. */
const REMEMBERED = 200_000;

/**
 * Validates JSON once for each text, because every step of a run reads the same rows again. The value is
 * shared, and so frozen.
 */
export function parsedOnce<T extends object | null>(schema: z.ZodType<T>): (text: string) => T {
  const parsed = new LRUCache<string, { value: T }>({
    maxSize: REMEMBERED,
    sizeCalculation: (_, text) => text.length + 1,
  });
  return (text) => {
    const found = parsed.get(text);
    if (found) return found.value;
    const value = frozen(fromJson(schema, text));
    parsed.set(text, { value });
    return value;
  };
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
