import { createHash } from 'node:crypto';

/**
 * A number from 0 up to 1 for something that happens, the same for the same seed and words. It is not the next number of a
 * generator, because requests of different pull requests are under way together in any order, and each should still meet the same
 * fault.
 */
export function draw(seed: number, ...what: (string | number)[]): number {
  const hash = createHash('sha256')
    .update([seed, ...what].join('\n'))
    .digest();
  return hash.readUInt32BE(0) / 2 ** 32;
}

/** One of the choices, by their weights. */
export function drawOne<T extends string>(at: number, weights: Readonly<Record<T, number>>): T {
  const choices = Object.entries(weights) as [T, number][];
  let left = at * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  throw new Error('there is nothing to choose from');
}

/** Counts how often each of some words occurred. */
export function counter(): { next(word: string): number; counts(): Record<string, number> } {
  const counts = new Map<string, number>();
  return {
    next(word) {
      const count = (counts.get(word) ?? 0) + 1;
      counts.set(word, count);
      return count;
    },
    counts: () => Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b))),
  };
}
