import type { Clock } from '../../core/clock.ts';
import { type GateProof, isFreshProof } from '../../domain/policy/merge-gate.ts';
import { GitHubError } from '../../ports/github.ts';

/**
 * Refuses to send a request whose proof is stale: called before anything is prepared, and again when the request leaves, since a
 * token may have been waited for in between.
 * @returns what throws GitHubError `unavailable` while the proof is not fresh
 */
export function refusingStale(proof: GateProof, clock: Clock, route: string): () => void {
  return () => {
    if (isFreshProof(proof, clock.now())) return;
    throw new GitHubError(
      'unavailable',
      0,
      `${route}: the proof is not the gate's or is too old; nothing was sent.`,
    );
  };
}
