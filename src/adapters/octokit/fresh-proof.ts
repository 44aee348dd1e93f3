import type { Clock } from '../../core/clock.ts';
import { type GateProof, isFreshProof } from '../../domain/policy/merge-gate.ts';
import { GitHubError } from '../../ports/github.ts';

/**
 * A check that throws if the proof is stale. Called before anything is prepared, and again when the request
 * is sent, because the client may have waited for a token in between.
 * @returns a function that throws GitHubError `unavailable` if the proof is not fresh
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
