import type { Chain, Step } from '../../chain/chain.ts';
import type { Slot } from '../../expression/state-slot.ts';

/**
 * The chain with the slots that each step's skill produces, as a run stores it. Computed once, before the
 * first step runs, so that a new version of a skill does not affect a run in progress.
 */
export function foldHints(chain: Chain, producesOf: (step: Step) => readonly Slot[]): Chain {
  return { ...chain, steps: chain.steps.map((step) => ({ ...step, produces: [...producesOf(step)] })) };
}
