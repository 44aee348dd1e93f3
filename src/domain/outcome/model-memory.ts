import { z } from 'zod';
import { findingSchema } from './finding.ts';

/**
 * What a language model was shown of a pull request and said of it, up to and including this round. Pieces of the change are
 * known by their prints, which are made of their content, so that they are found again wherever they move to.
 */
export const modelMemorySchema = z.strictObject({
  /** The pieces it has read. */
  read: z.array(z.string()),
  /** What it said, before it was put together with what the analyzers say. */
  said: z.array(
    z.strictObject({
      /** The print of the piece it is about, or of all the file's pieces together when it is about the file. */
      of: z.string(),
      /** Which line of the piece, from 0; `null`: the file as a whole. */
      offset: z.int().min(0).nullable(),
      finding: findingSchema,
    }),
  ),
});
export type ModelMemory = z.infer<typeof modelMemorySchema>;
export type Said = ModelMemory['said'][number];
