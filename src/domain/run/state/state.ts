import { z } from 'zod';
import type { Step } from '../../chain/chain.ts';
import { ENTRY_SCHEMAS, SLOTS, type Slot, slotSchema } from '../../expression/state-slot.ts';
import { OUTCOME_KINDS, type Outcome } from '../../outcome/outcome.ts';
import type { Run } from '../run.ts';
import { frameOf, frameSchema } from './frame.ts';
import { readsOf } from './reads.ts';
import { type Write, writerOf, writesOf } from './writes.ts';

const stepId = z.string();
const written = <Shape extends z.ZodRawShape>(entry: z.ZodObject<Shape, z.core.$strict>) =>
  z.array(entry.extend({ step: stepId }));

/** Shown by `run show --state`, read as `state.*` by expressions. */
export const cognitiveStateSchema = z.strictObject({
  frame: frameSchema,
  /** Entries in the order of the steps, each with the step that wrote it. */
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
   * Slots from which nothing may be concluded by what is not in them: nobody wrote them, or a step that was to has not, reached no
   * verdict, or had more to say than there was room for.
   */
  gaps: z.array(slotSchema),
  output: z.strictObject({
    results: z.array(
      z.strictObject({
        step: stepId,
        outcome_kind: z.enum(OUTCOME_KINDS),
        passed: z.boolean().nullable(),
        content_hash: z.string(),
        artifact_id: z.string().nullable(),
      }),
    ),
  }),
  /** What each step wrote, and from what: the paths that it read, and the outcome with that hash. */
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
          /** Entries that there was no room for. */
          cut: z.int().min(0),
          /** Values of an `output_mapping` that are no such entry. */
          unfit: z.int().min(0),
          /** Entries whose text was cut. */
          shortened: z.int().min(0),
        }),
      ),
    }),
  ),
});
export type CognitiveState = z.infer<typeof cognitiveStateSchema>;

/** A step with what it has concluded, if it has. */
export interface Concluded {
  step: Step;
  outcome: Outcome | null;
  sessionId: string | null;
  artifactId: string | null;
}

/**
 * The working memory of a run, put together from what is stored with it: each step writes by concluding, to a place of its own,
 * and takes back what it wrote when it is run again. Keeping a second copy beside the outcomes was rejected: it could differ from
 * them after a crash, a rerun or a fresh look at CI, and this way no order of writing can be told from another.
 * @param steps Those whose memory is asked for, in the chain's order.
 */
export function cognitiveState(run: Run, steps: readonly Concluded[]): CognitiveState {
  const all = steps.map((one) => ({
    ...one,
    writes: one.outcome === null ? [] : writesOf(one.step, one.outcome, run.definition.steps.length),
  }));
  const concluded = all.flatMap(({ outcome, ...one }) => (outcome === null ? [] : [{ ...one, outcome }]));
  return {
    frame: frameOf(run),
    working: Object.fromEntries(
      SLOTS.map((slot) => [
        slot,
        all.flatMap(({ step, writes }) =>
          writes
            .filter((write) => write.slot === slot)
            .flatMap(({ entries }) => entries.map((entry) => ({ ...entry, step: step.id }))),
        ),
      ]),
    ) as CognitiveState['working'],
    gaps: SLOTS.filter((slot) => isGap(slot, all)),
    output: {
      results: concluded.map(({ step, outcome, artifactId }) => ({
        step: step.id,
        outcome_kind: outcome.outcome_kind,
        passed: outcome.passed,
        content_hash: outcome.content_hash,
        artifact_id: artifactId,
      })),
    },
    trace: concluded.map(({ step, outcome, sessionId, writes }) => ({
      step: step.id,
      session_id: sessionId,
      read: readsOf(step),
      from: outcome.content_hash,
      wrote: writes.map(({ entries, ...write }) => ({ ...write, entries: entries.length })),
    })),
  };
}

function isGap(slot: Slot, steps: readonly (Concluded & { writes: readonly Write[] })[]): boolean {
  const writers = steps.filter(({ step }) => writerOf(step, slot));
  return !(writers.length > 0 && writers.every((writer) => isWhole(slot, writer)));
}

function isWhole(
  slot: Slot,
  { outcome, writes }: { outcome: Outcome | null; writes: readonly Write[] },
): boolean {
  const write = writes.find((candidate) => candidate.slot === slot);
  return write !== undefined && write.cut === 0 && write.unfit === 0 && outcome?.passed !== null;
}
