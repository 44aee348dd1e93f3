import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';

export const criterionSchema = z.strictObject({
  id: z.string(),
  description: z.string(),
  passed: z.boolean(),
  evidence: z.string(),
});
export type Criterion = z.infer<typeof criterionSchema>;

/** What a gate concluded, criterion by criterion. */
export const gateVerdictSchema = z.strictObject({
  outcome_kind: z.literal('gate_verdict'),
  ...outcomeBase,
  gate_passed: z.boolean(),
  feedback: z.string(),
  notes: z.array(z.string()),
  criteria: z.array(criterionSchema),
  blocking_reason: z.string().nullable(),
  next_action: z.string().nullable(),
  ...hashField,
});
export type GateVerdict = z.infer<typeof gateVerdictSchema>;
