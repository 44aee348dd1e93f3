import type { Step } from '../../chain/chain.ts';
import { mapOutcome } from '../../chain/state-mapping.ts';
import { SLOTS, type Slot } from '../../expression/state-slot.ts';
import type { Outcome } from '../../outcome/outcome.ts';
import { type KeptEntries, type SlotEntries, shareOf, withinShare } from './limits.ts';
import { entriesOf } from './outcome-entries.ts';

/** A step's entries for one slot, before the limits. */
interface ProposedWrite extends SlotEntries {
  by: Write['by'];
  unfit: number;
}

/** A step's entries in one slot, and the declaration that caused them. */
export interface Write extends KeptEntries {
  slot: Slot;
  by: 'produces' | 'output_mapping';
  /** How many values of its mapping do not fit this slot. */
  unfit: number;
}

/**
 * The writes of a step that concludes with this outcome: into each slot that its skill produces, or that the
 * chain's `output_mapping` names. The mapping takes precedence.
 * @param steps the number of steps in the chain, which share the space
 */
export function writesOf(step: Step, outcome: Outcome, steps: number): Write[] {
  const byKind = entriesOf(outcome);
  const proposed = SLOTS.flatMap((slot): ProposedWrite[] => {
    const source = step.outputMapping?.[slot];
    if (source !== undefined) {
      const mapped = mapOutcome(slot, source, outcome);
      return mapped === undefined ? [] : [{ slot, by: 'output_mapping', ...mapped }];
    }
    const entries = writesSlot(step, slot) ? byKind[slot] : undefined;
    return entries === undefined ? [] : [{ slot, by: 'produces', entries, unfit: 0 }];
  });
  const kept = withinShare(step.id, proposed, shareOf(steps));
  return proposed.flatMap(({ slot, by, unfit }) => {
    const entries = kept.get(slot);
    return entries === undefined ? [] : [{ slot, by, unfit, ...entries }];
  });
}

/** Whether the step writes the slot. In runs from before the working memory existed, a step may write any. */
export function writesSlot({ outputMapping, produces }: Step, slot: Slot): boolean {
  return outputMapping?.[slot] !== undefined || produces === undefined || produces.includes(slot);
}
