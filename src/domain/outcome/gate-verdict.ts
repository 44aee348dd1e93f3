import { z } from 'zod';
import { FAILURE_POLICIES } from '../gate/gate.ts';
import { GATE_SCOPES } from '../gate/placed.ts';
import { hashField, outcomeBase } from './base.ts';

const criterionSchema = z.strictObject({
  id: z.string(),
  description: z.string(),
  passed: z.boolean(),
  evidence: z.string(),
  /** If it is not passed: whether time or people could still change that for this head. */
  may_change: z.boolean(),
});
export type Criterion = z.infer<typeof criterionSchema>;

/** The result of a gate, criterion by criterion. */
export const gateVerdictSchema = z.strictObject({
  outcome_kind: z.literal('gate_verdict'),
  ...outcomeBase,
  /** The gate's id, unique within its scope and step. */
  gate: z.string(),
  scope: z.enum(GATE_SCOPES),
  /** The step that the gate belongs to. */
  step: z.string(),
  at: z.enum(['pre', 'post']),
  gate_passed: z.boolean(),
  /** The consequence of not passing. A gate that could not be judged always blocks. */
  on_failure: z.enum(FAILURE_POLICIES),
  /** The message to people, as one sentence. */
  feedback: z.string(),
  notes: z.array(z.string()),
  criteria: z.array(criterionSchema),
  /** Set exactly if the gate is not passed and blocks the step. */
  blocking_reason: z.string().nullable(),
  next_action: z.string().nullable(),
  /** Hash of everything that it was judged on. Equal inputs are not judged again. */
  inputs_hash: z.string(),
  ...hashField,
});
export type GateVerdict = z.infer<typeof gateVerdictSchema>;
