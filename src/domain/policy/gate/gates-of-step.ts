import type { StepGates } from '../../gate/gate.ts';
import { gatesOf, type MandatoryGates, type PlacedGate } from '../../gate/placed.ts';
import { actionOf } from '../capability.ts';

/**
 * The gates of a step: its own, and those that the settings of the repository and the organisation require.
 */
export function gatesOfStep(
  step: { uses: { kind: 'skill' | 'action'; name: string }; gates?: StepGates | undefined },
  mandatory: readonly MandatoryGates[] = [],
): Record<'pre' | 'post', PlacedGate[]> {
  return gatesOf(step, mandatory, actionOf(step.uses)?.irreversible === true);
}
