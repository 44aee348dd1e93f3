import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';

/** The result of an action on GitHub: `merged`, `commented`, `labelled`. */
export const actionResultSchema = z.strictObject({
  outcome_kind: z.literal('action_result'),
  ...outcomeBase,
  action: z.string(),
  /** Facts of the action, such as the merge commit and who countersigned. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  ...hashField,
});
export type ActionResult = z.infer<typeof actionResultSchema>;
