import { hash } from 'node:crypto';

/**
 * The candidate that a key belongs to. Everybody who knows the same candidates finds the same one without asking, and when a candidate
 * comes or goes, only the keys that it gets or had change hands: https://en.wikipedia.org/wiki/Rendezvous_hashing
 */
export function candidateFor(key: number, candidates: readonly string[]): string | undefined {
  const weighed = candidates.map((candidate) => ({
    candidate,
    weight: hash('sha256', `${candidate} ${key}`),
  }));
  return weighed.sort((a, b) => (a.weight < b.weight ? 1 : -1))[0]?.candidate;
}
