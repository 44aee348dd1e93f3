import type { GateVerdict } from '../../outcome/gate-verdict.ts';
import { makeOutcome, type Outcome } from '../../outcome/outcome.ts';
import { gateName } from './verdict.ts';

/** The outcome of a step as it counts behind the gates that lessen it: whatever it found, it has not passed. */
export function degraded(outcome: Outcome, verdicts: readonly GateVerdict[]): Outcome {
  const lessening = verdicts.filter(
    ({ gate_passed, on_failure }) => !gate_passed && on_failure === 'degrade',
  );
  if (lessening.length === 0) return outcome;
  const { content_hash, summary, ...rest } = outcome;
  const names = lessening.map(gateName).join(', ');
  return makeOutcome({
    ...rest,
    passed: false,
    summary: `counts as not passed, because of the gate ${names}: ${summary}`.slice(0, 4_000),
  });
}
