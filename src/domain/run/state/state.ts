import type { Json } from '../../../core/canonical.ts';
import type { Step } from '../../chain/chain.ts';
import { compileExpression, compileTemplate, type Reference } from '../../expression/condition.ts';
import type { CognitiveState } from '../../expression/state-schema.ts';
import { SLOTS, type Slot } from '../../expression/state-slot.ts';
import type { Outcome } from '../../outcome/outcome.ts';
import type { Run } from '../run.ts';
import { frameOf } from './frame.ts';
import { shortened } from './limits.ts';
import { type Write, writesOf, writesSlot } from './writes.ts';

/** Per step. */
const MAX_READS = 20;

/** A step with its outcome, if it has one. */
export interface StepResult {
  step: Step;
  outcome: Outcome | null;
  sessionId: string | null;
  artifactId: string | null;
}

/**
 * The working memory of a run, computed from what is stored: each step writes by concluding, to its own
 * place, and a rerun of the step replaces what it wrote. Rejected: a stored copy beside the outcomes. It
 * could differ from them after a crash, a rerun or a recheck of CI. A computed one also cannot depend on the
 * order of writing.
 * @param steps those whose memory is requested, in the chain's order
 */
export function cognitiveState(run: Run, steps: readonly StepResult[]): CognitiveState {
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

function isGap(slot: Slot, steps: readonly (StepResult & { writes: readonly Write[] })[]): boolean {
  const writers = steps.filter(({ step }) => writesSlot(step, slot));
  return !(writers.length > 0 && writers.every((writer) => isComplete(slot, writer)));
}

function isComplete(
  slot: Slot,
  { outcome, writes }: { outcome: Outcome | null; writes: readonly Write[] },
): boolean {
  const write = writes.find((candidate) => candidate.slot === slot);
  return write !== undefined && write.cut === 0 && write.unfit === 0 && outcome?.passed !== null;
}

/**
 * The paths that a step reads in its condition and inputs, such as `steps.review.outcome.passed`, sorted,
 * without duplicates.
 * @throws ExpressionError for a text that the parser refuses
 */
function readsOf(step: Step): string[] {
  const references = [
    ...(step.condition === undefined ? [] : compileExpression(step.condition).references),
    ...textsIn(step.with).flatMap((text) => compileTemplate(text).references),
  ];
  return [...new Set(references.map(pathOf))].sort().slice(0, MAX_READS);
}

function pathOf({ root, path }: Reference): string {
  return shortened([root, ...path].join('.'));
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
