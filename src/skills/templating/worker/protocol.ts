import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';

/** What the worker process is asked: a JSON value in one line of its standard input. */
export interface RenderRequest {
  /** `file:` address of the engine: the process may read little else, and so could not look for it. */
  engine: string;
  template: string;
  context: { [name: string]: Json };
  /** Steps of the engine. */
  fuel: number;
  /** In bytes of UTF-8. */
  maxBytes: number;
}

/** What the worker says to each: a JSON value in one line of its standard output. */
export const renderAnswerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({
    kind: z.literal('template'),
    line: z.int().min(1).nullable(),
    message: z.string().max(1_000),
    missing: z.strictObject({ name: z.string(), known: z.array(z.string()) }).optional(),
  }),
  z.strictObject({ kind: z.literal('out_of_fuel'), line: z.int().min(1).nullable() }),
  z.strictObject({ kind: z.literal('too_long') }),
  z.strictObject({ kind: z.literal('out_of_memory') }),
]);
export type RenderAnswer = z.infer<typeof renderAnswerSchema>;
