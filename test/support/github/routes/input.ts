import type { z } from 'zod';
import { malformed } from '../api-error.ts';

/** The body in the schema's shape. @throws ApiError 422 that names the first error. */
export function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw malformed(`${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
}
