import { z } from 'zod';
import { findingSchema, safePathSchema } from './finding.ts';

/**
 * The pieces of a pull request that a language model has read and its findings, up to and including this
 * round. A piece of the change is identified by a hash of its content, so that it is recognised when it
 * moves.
 */
export const modelMemorySchema = z.strictObject({
  /** The hashes of the pieces that it has read. */
  read: z.array(z.string()),
  /** Its findings, before they are merged with those of the analyzers. */
  said: z.array(
    z.strictObject({
      /**
       * The hash of the piece that the finding is about, or of all pieces of the file together if it is about
       * the file.
       */
      of: z.string(),
      /** The line within the piece, from 0; `null` for the whole file. */
      offset: z.int().min(0).nullable(),
      finding: findingSchema.extend({ file: safePathSchema }),
    }),
  ),
});
export type ModelMemory = z.infer<typeof modelMemorySchema>;
export type RememberedFinding = ModelMemory['said'][number];
