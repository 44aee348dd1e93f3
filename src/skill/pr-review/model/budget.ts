/** Of the change, in one question: 72 KB of text. With the guidelines and what is said around, it stays far below what is sent. */
export const QUESTION_TOKENS = 24_000;
/** Questions of one review: what a person could still read in a day. */
export const MAX_QUESTIONS = 8;

/**
 * How many tokens a text is taken for: one for three bytes. Code has three to four bytes a token, so this errs on the side of
 * smaller questions. Money is counted elsewhere (`model/ledger.ts`), with figures that cannot err.
 */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}

export interface Share<T> {
  /** What each question is about, in the given order. */
  questions: T[][];
  /** What there is no room for. */
  rest: T[];
}

/**
 * Shares parts out among questions: a group, that is all parts of a file, stays together where one question can hold it. What comes
 * first is read first, so the order is the caller's to choose.
 */
export function shareOut<T>(
  groups: readonly (readonly T[])[],
  tokens: (part: T) => number,
  { perQuestion = QUESTION_TOKENS, questions: most = MAX_QUESTIONS } = {},
): Share<T> {
  const questions: T[][] = [];
  const rest: T[] = [];
  let room = 0;
  const begin = () => {
    questions.push([]);
    room = perQuestion;
  };
  for (const group of groups) {
    const whole = group.reduce((sum, part) => sum + tokens(part), 0);
    if (whole > room && whole <= perQuestion && questions.length < most) begin();
    for (const part of group) {
      const needed = tokens(part);
      if (needed > room && needed <= perQuestion && questions.length < most) begin();
      if (needed > room) {
        rest.push(part);
        continue;
      }
      questions.at(-1)?.push(part);
      room -= needed;
    }
  }
  return { questions, rest };
}
