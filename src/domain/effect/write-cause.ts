import { z } from 'zod';

/**
 * The person and pull request that a write counts for in the fair share of GitHub's limits; `null` if there
 * is none.
 */
export const writeCauseSchema = z.strictObject({
  /** The login of the person who wrote the command, or who opened the pull request. */
  person: z.string().nullable(),
  /** `<id of the repository>#<number>`. */
  pullRequest: z.string().nullable(),
});
export type WriteCause = z.infer<typeof writeCauseSchema>;
