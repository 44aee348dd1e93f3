import type { Declined } from '../../domain/run/plan.ts';
import { heldBecause } from './held-chain.ts';

/** Why a chain begins no run, as a clause. */
export function declinedBecause(declined: Declined): string {
  switch (declined.why) {
    case 'held':
      return heldBecause(declined.hold);
    case 'has_run':
      return declined.runId === undefined
        ? 'a run began for it, and was deleted since'
        : `the run ${declined.runId} began for it already`;
    default:
      return declined.because;
  }
}
