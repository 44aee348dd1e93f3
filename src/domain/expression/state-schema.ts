import { z } from 'zod';
import { outcomeKindSchema } from '../outcome/outcome.ts';
import { ENTRY_SCHEMAS, slotSchema } from './state-slot.ts';

const frameSchema = z.strictObject({
  goal: z.string(),
  constraints: z.array(z.string()),
  /** The criteria of each step, by step id. */
  success_criteria: z.array(z.strictObject({ step: z.string(), text: z.string() })),
});
/** The goal and the constraints of a run. */
export type Frame = z.infer<typeof frameSchema>;

const stepId = z.string();
const written = <Shape extends z.ZodRawShape>(entry: z.ZodObject<Shape, z.core.$strict>) =>
  z.array(entry.extend({ step: stepId }));

/** Shown by `run show --state`, read as `state.*` by expressions. */
export const cognitiveStateSchema = z.strictObject({
  frame: frameSchema,
  /** Entries in step order, each with the step that wrote it. */
  working: z.strictObject({
    entities: written(ENTRY_SCHEMAS.entities),
    options: written(ENTRY_SCHEMAS.options),
    criteria: written(ENTRY_SCHEMAS.criteria),
    evidence: written(ENTRY_SCHEMAS.evidence),
    risks: written(ENTRY_SCHEMAS.risks),
    hypotheses: written(ENTRY_SCHEMAS.hypotheses),
    uncertainties: written(ENTRY_SCHEMAS.uncertainties),
    decisions: written(ENTRY_SCHEMAS.decisions),
    messages: written(ENTRY_SCHEMAS.messages),
  }),
  /**
   * Slots that may be incomplete, so that nothing follows from an entry that they do not have: no step wrote
   * them, or a step that should have has not, has no verdict, or had more entries than fit.
   */
  gaps: z.array(slotSchema),
  output: z.strictObject({
    results: z.array(
      z.strictObject({
        step: stepId,
        outcome_kind: outcomeKindSchema,
        passed: z.boolean().nullable(),
        content_hash: z.string(),
        artifact_id: z.string().nullable(),
      }),
    ),
  }),
  /** The writes of each step and their sources: the paths that it read, and the outcome with that hash. */
  trace: z.array(
    z.strictObject({
      step: stepId,
      session_id: z.string().nullable(),
      read: z.array(z.string()),
      from: z.string(),
      wrote: z.array(
        z.strictObject({
          slot: slotSchema,
          by: z.enum(['produces', 'output_mapping']),
          entries: z.int().min(0),
          /** Entries that did not fit. */
          cut: z.int().min(0),
          /** Values of an `output_mapping` that do not fit the slot. */
          unfit: z.int().min(0),
          /** Entries whose text was truncated. */
          shortened: z.int().min(0),
        }),
      ),
    }),
  ),
});
export type CognitiveState = z.infer<typeof cognitiveStateSchema>;
