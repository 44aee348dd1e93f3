import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { candidateFor } from '../../src/core/rendezvous.ts';

const someCandidates = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 6 });
const someKey = fc.integer({ min: 0, max: 1_000_000 });

describe('a key', () => {
  test('belongs to the same candidate in whatever order they are listed', () => {
    fc.assert(
      fc.property(someKey, someCandidates, (key, candidates) => {
        expect(candidateFor(key, candidates.toReversed())).toBe(candidateFor(key, candidates));
      }),
    );
  });

  test('stays with its candidate when another one goes', () => {
    fc.assert(
      fc.property(someKey, someCandidates, fc.nat(), (key, candidates, nth) => {
        const chosen = candidateFor(key, candidates);
        const gone = candidates[nth % candidates.length];
        fc.pre(gone !== chosen);
        expect(
          candidateFor(
            key,
            candidates.filter((one) => one !== gone),
          ),
        ).toBe(chosen);
      }),
    );
  });

  test('belongs to none where there are none', () => {
    expect(candidateFor(7, [])).toBeUndefined();
  });
});

test('a thousand keys are spread over all candidates', () => {
  const candidates = ['one', 'two', 'three', 'four'];
  const counts = new Map(candidates.map((candidate) => [candidate, 0]));
  for (let key = 0; key < 1_000; key++) {
    const found = candidateFor(key, candidates) ?? '';
    counts.set(found, (counts.get(found) ?? 0) + 1);
  }
  for (const count of counts.values()) expect(count).toBeGreaterThan(200);
});
