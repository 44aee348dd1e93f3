import { z } from 'zod';

/** On whose account a write is made; `null` where it is nobody's in particular. */
export const writeCauseSchema = z.strictObject({
  /** The login of whoever wrote the command, or whose pull request it is. */
  person: z.string().nullable(),
  /** `<id of the repository>#<number>`. */
  pullRequest: z.string().nullable(),
});
export type WriteCause = z.infer<typeof writeCauseSchema>;
