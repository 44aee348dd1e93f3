import { unreachable } from '../../core/errors.ts';
import type { Contract } from '../../domain/artifact/contract.ts';
import { type ProducedFile, type Verification, verify } from '../../domain/artifact/verification.ts';
import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { SessionResult } from '../../domain/run/transition.ts';

/**
 * Checks a session's result against its contract. A successful session without a required artifact has
 * failed, and may be retried. A failed one keeps its reason, with the verification beside it.
 */
export function checkContract(
  result: SessionResult,
  contract: Contract | null,
  produced: readonly ProducedFile[],
  now: Date,
): { result: SessionResult; verification: Verification | null } {
  if (contract === null) return { result, verification: null };
  switch (result.kind) {
    case 'waits':
    case 'withheld':
      return { result, verification: null };
    case 'failed':
      return { result, verification: verify(contract, produced, [], now) };
    case 'done': {
      const verification = verify(contract, produced, [result.outcome], now);
      return verification.status === 'failed'
        ? { result: { kind: 'failed', reason: missingArtifact(verification), retryable: true }, verification }
        : { result, verification };
    }
    default:
      return unreachable(result);
  }
}

function missingArtifact({ missing_required }: Verification): Reason {
  const each = missing_required.map(({ id, path, because }) => `${id} (${path}): ${because}`);
  return reason(
    'step.failed.missing_artifact',
    `it ended without what its contract requires: ${each.join('; ')}`,
    missing_required.map(({ id, path }) => ({ kind: 'artifact', id, label: path })),
  );
}
