import type { GateVerdict } from '../../outcome/gate-verdict.ts';
import { makeOutcome, type Outcome } from '../../outcome/outcome.ts';
import { gateName } from './verdict.ts';

/** The outcome of a step under its gates with `degrade` that did not pass: it counts as not passed. */
export function degraded(outcome: Outcome, verdicts: readonly GateVerdict[]): Outcome {
  const failedGates = verdicts.filter(
    ({ gate_passed, on_failure }) => !gate_passed && on_failure === 'degrade',
  );
  if (failedGates.length === 0) return outcome;
  const { content_hash, summary, ...rest } = outcome;
  const names = failedGates.map(gateName).join(', ');
  return makeOutcome({
    ...rest,
    passed: false,
    summary: `counts as not passed, because of the gate ${names}: ${summary}`.slice(0, 4_000),
  });
}
