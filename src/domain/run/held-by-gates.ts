import type { EvidenceRef } from '../explanation/evidence.ts';
import { type Reason, type ReasonCode, reason } from '../explanation/reason.ts';
import type { PlacedGate } from '../gate/placed.ts';
import type { GateVerdict } from '../outcome/gate-verdict.ts';
import { blocks, gateName, mayPassLater } from '../policy/gate/verdict.ts';
import { recheckInMs } from './question.ts';
import type { Invocation, Run } from './run.ts';

const PAUSED = 'its gates are passed, and the pull request is paused; `/countersign resume` goes on';

/**
 * How an attempt ends that the gates before the step do not let go on, or `undefined` if they do. The step waits
 * for what people or time can still change, such as a merge freeze or a missing label, until its own timeout.
 * What only a new commit can change fails at once.
 */
export function heldByGates(
  { state: { run }, invocation }: { state: { run: Pick<Run, 'paused'> }; invocation: Invocation },
  { pre, post }: Record<'pre' | 'post', readonly PlacedGate[]>,
  verdicts: readonly GateVerdict[],
  now: Date,
):
  | { kind: 'waits'; for: 'until'; until: Date; reason: Reason }
  | { kind: 'failed'; reason: Reason; retryable: false }
  | undefined {
  if (pre.length + post.length === 0) return undefined;
  const since = invocation.startedAt ?? now;
  const until = new Date(now.getTime() + recheckInMs(now.getTime() - since.getTime()));
  const blocking = verdicts.filter(blocks);
  if (blocking.length > 0) {
    return blocking.every(mayPassLater)
      ? { kind: 'waits', for: 'until', until, reason: because('step.waiting.gate', blocking) }
      : { kind: 'failed', reason: blockedBy(blocking), retryable: false };
  }
  // A pause keeps steps from starting. A step that waits for its gates has started, so it must be checked here.
  return run.paused && invocation.status === 'waiting_until'
    ? { kind: 'waits', for: 'until', until, reason: reason('step.waiting.paused', PAUSED) }
    : undefined;
}

export function blockedBy(verdicts: readonly GateVerdict[]): Reason {
  return because('gate.blocked.policy', verdicts);
}

function because(code: ReasonCode, verdicts: readonly GateVerdict[]): Reason {
  const evidence = verdicts.map(
    (verdict): EvidenceRef => ({ kind: 'gate', id: verdict.gate, label: gateName(verdict) }),
  );
  return reason(code, verdicts.map(({ summary }) => summary).join('; '), evidence);
}
