import { z } from 'zod';

/**
 * What a question has sent to people, stored with its approval. Each notice is sent at most once per question,
 * so its name here is enough to know that it must not be sent again.
 */
export const noticesSchema = z.strictObject({
  sent: z.array(z.string()),
  /** Logins, and teams as `organisation/team-slug`. */
  people: z.array(z.string()),
  /** Names of webhooks. */
  webhooks: z.array(z.string()).default([]),
  /** Sentences about who could not be notified. */
  problems: z.array(z.string()),
});
export type Notices = z.infer<typeof noticesSchema>;
