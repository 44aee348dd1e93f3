/** A text as weighted words: the number of occurrences, multiplied by a weight. */
export type WeightedWords = ReadonlyMap<string, number>;

/** How fast repetitions of a word lose influence, and how much long texts are penalised. The usual values. */
const [K1, B] = [1.2, 0.75];

export interface Bm25 {
  /**
   * For each text that contains one of the words, by index: how well it matches. Above 0, without an upper
   * limit.
   */
  scores(words: Iterable<string>): Map<number, number>;
}

/** Okapi BM25 over a few hundred short texts: the fewer texts have a word, the more it counts. */
export function createBm25(texts: readonly WeightedWords[]): Bm25 {
  const lengths = texts.map((text) => [...text.values()].reduce((sum, count) => sum + count, 0));
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length);
  const postings = new Map<string, { index: number; count: number }[]>();
  for (const [index, text] of texts.entries()) {
    for (const [word, count] of text) {
      const found = postings.get(word);
      if (found) found.push({ index, count });
      else postings.set(word, [{ index, count }]);
    }
  }
  return {
    scores(words) {
      const scores = new Map<number, number>();
      for (const word of new Set(words)) {
        const found = postings.get(word) ?? [];
        const rarity = Math.log(1 + (texts.length - found.length + 0.5) / (found.length + 0.5));
        for (const { index, count } of found) {
          const long = 1 - B + B * ((lengths[index] ?? 0) / mean);
          const gain = (rarity * count * (K1 + 1)) / (count + K1 * long);
          scores.set(index, (scores.get(index) ?? 0) + gain);
        }
      }
      return scores;
    },
  };
}
