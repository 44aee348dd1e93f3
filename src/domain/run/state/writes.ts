import type { Step } from '../../chain/chain.ts';
import { mapOutcome } from '../../chain/state-mapping.ts';
import { SLOTS, type Slot } from '../../expression/state-slot.ts';
import type { Outcome } from '../../outcome/outcome.ts';
import { landing } from './landing.ts';
import { type Kept, shareOf, type Wanted, withinShare } from './limits.ts';

/** What a step would write into one slot, if there were room for all of it. */
interface DesiredEffect extends Wanted {
  by: Write['by'];
  unfit: number;
}

/** What a step wrote into one slot, and by whose word. */
export interface Write extends Kept {
  slot: Slot;
  by: 'produces' | 'output_mapping';
  /** How many values of its mapping are no entry of this slot. */
  unfit: number;
}

/**
 * What a step writes by concluding with this outcome: into each slot that its skill produces, unless the chain's own
 * `output_mapping` says what goes there, and into no other.
 * @param steps How many there are in the chain; they share the room.
 */
export function writesOf(step: Step, outcome: Outcome, steps: number): Write[] {
  const landed = landing(outcome);
  const wanted = SLOTS.flatMap((slot): DesiredEffect[] => {
    const source = step.outputMapping?.[slot];
    if (source !== undefined) {
      const mapped = mapOutcome(slot, source, outcome);
      return mapped === undefined ? [] : [{ slot, by: 'output_mapping', ...mapped }];
    }
    const entries = writerOf(step, slot) ? landed[slot] : undefined;
    return entries === undefined ? [] : [{ slot, by: 'produces', entries, unfit: 0 }];
  });
  const kept = withinShare(step.id, wanted, shareOf(steps));
  return wanted.flatMap(({ slot, by, unfit }) => {
    const part = kept.get(slot);
    return part === undefined ? [] : [{ slot, by, unfit, ...part }];
  });
}

/** Whether the step is to write the slot. One of a run from before there was a memory may write any. */
export function writerOf({ outputMapping, produces }: Step, slot: Slot): boolean {
  return outputMapping?.[slot] !== undefined || produces === undefined || produces.includes(slot);
}
