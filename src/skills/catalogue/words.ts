/** Words that are too common to distinguish skills. */
const COMMON = new Set(
  'a an and are at be by can check do does for from has have how i in is it me my of on or our please pull request should so that the their this to us was we what when which who why will with you your'.split(
    ' ',
  ),
);

/**
 * The words of a text in comparable form: lower case, without a plural "s". Rejected: a real stemmer. In
 * names and one-line descriptions it finds little more, and its wrong matches are hard to explain.
 */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map(singular);
}

/** The words that distinguish skills. */
export function significantWordsOf(text: string): string[] {
  return wordsOf(text).filter((word) => !COMMON.has(word));
}

/** Whether the phrase occurs in the words, in order and without gaps. */
export function holdsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false;
  return words.some((_, start) => phrase.every((word, index) => words[start + index] === word));
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
