import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';

/** A request to the worker process: a JSON value in one line of its standard input. */
export interface RenderRequest {
  /** `file:` URL of the engine. The process can read little else, so it could not find it. */
  engine: string;
  template: string;
  context: { [name: string]: Json };
  /** Steps of the engine. */
  fuel: number;
  /** In bytes of UTF-8. */
  maxBytes: number;
}

/** The worker's answer: a JSON value in one line of its standard output. */
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
