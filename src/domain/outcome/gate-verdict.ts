import { z } from 'zod';
import { FAILURE_POLICIES } from '../gate/gate.ts';
import { GATE_SCOPES } from '../gate/placed.ts';
import { hashField, outcomeBase } from './base.ts';

export const criterionSchema = z.strictObject({
  id: z.string(),
  description: z.string(),
  passed: z.boolean(),
  evidence: z.string(),
  /** When it is not passed: whether time or people could still change that for this head. */
  may_change: z.boolean(),
});
export type Criterion = z.infer<typeof criterionSchema>;

/** What a gate concluded, criterion by criterion. */
export const gateVerdictSchema = z.strictObject({
  outcome_kind: z.literal('gate_verdict'),
  ...outcomeBase,
  /** The gate's id, each once in what asks for it, and who that is. */
  gate: z.string(),
  scope: z.enum(GATE_SCOPES),
  /** The step that it stands before or behind. */
  step: z.string(),
  at: z.enum(['pre', 'post']),
  gate_passed: z.boolean(),
  /** What not being passed does; a gate that could not be judged always blocks. */
  on_failure: z.enum(FAILURE_POLICIES),
  /** What people are told of it, as one sentence. */
  feedback: z.string(),
  notes: z.array(z.string()),
  criteria: z.array(criterionSchema),
  /** Set exactly when it is not passed and holds the step up. */
  blocking_reason: z.string().nullable(),
  next_action: z.string().nullable(),
  /** Of everything that it was judged on: the same inputs are not judged again. */
  inputs_hash: z.string(),
  ...hashField,
});
export type GateVerdict = z.infer<typeof gateVerdictSchema>;
