import { MERGE_ACTION } from '../../domain/chain/chain.ts';
import { gatesOf, type PlacedGate } from '../../domain/gate/placed.ts';
import type { StepContext } from '../steps/step.ts';

/** The gates of the step that is looked at: its own, the repository's and the organisation's. */
export function gatesOfStep({ step, state }: StepContext): Record<'pre' | 'post', PlacedGate[]> {
  return gatesOf(step, state.run.settings.gates ?? [], step.uses.name === MERGE_ACTION);
}
