/** Too common to tell skills apart, and asked with everything. */
const COMMON = new Set(
  'a an and are at be by can check do does for from has have how i in is it me my of on or our please pull request should so that the their this to us was we what when which who why will with you your'.split(
    ' ',
  ),
);

/**
 * The words of a text, as they are compared: small letters, without a plural's "s". Rejected: a real stemmer, which finds little
 * more in names and one-line descriptions, and finds wrong things that nobody can explain.
 */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map(singular);
}

/** The words that say something. */
export function tellingWordsOf(text: string): string[] {
  return wordsOf(text).filter((word) => !COMMON.has(word));
}

/** Whether the words stand in the text, in this order and side by side. */
export function holdsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false;
  return words.some((_, start) => phrase.every((word, index) => words[start + index] === word));
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
