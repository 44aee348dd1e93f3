/** Of the change, in one question: 72 KB of text. With the guidelines and what is said around, it stays far below what is sent. */
export const QUESTION_TOKENS = 24_000;
export const EFFORTS = ['low', 'medium', 'high'] as const;
export type Effort = (typeof EFFORTS)[number];
/** Questions of one review; the most of them hold what a person could still read in a day. */
export const QUESTIONS: Readonly<Record<Effort, number>> = { low: 2, medium: 4, high: 8 };

/** Code has three to four, so this errs on the side of smaller questions. */
export const BYTES_A_TOKEN = 3;

/** How many tokens a text is taken for. Money is counted elsewhere (`model/ledger.ts`), with figures that cannot err. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

export interface Share<T> {
  /** What each question is about, in the given order. */
  questions: T[][];
  /** What there is no room for. */
  rest: T[];
}

/** How many tokens a part takes. To know it well, its text has to be made; so there is a guess for parts that have no chance. */
export interface Size<T> {
  atLeast(part: T): number;
  exactly(part: T): number;
}

/**
 * Shares parts out among questions: a group, that is all parts of a file, stays together where one question can hold it. What comes
 * first is read first, so the order is the caller's to choose.
 */
export function shareOut<T>(
  groups: readonly (readonly T[])[],
  size: Size<T>,
  { perQuestion = QUESTION_TOKENS, questions: most = QUESTIONS.high } = {},
): Share<T> {
  const questions: T[][] = [];
  const rest: T[] = [];
  let room = 0;
  const mayBegin = () => questions.length < most;
  const beginIfNeeded = (tokens: number) => {
    if (tokens <= room || tokens > perQuestion || !mayBegin()) return;
    questions.push([]);
    room = perQuestion;
  };
  for (const group of groups) {
    if (mayBegin()) beginIfNeeded(group.reduce((sum, part) => sum + size.exactly(part), 0));
    for (const part of group) {
      const tokens = !mayBegin() && size.atLeast(part) > room ? Number.POSITIVE_INFINITY : size.exactly(part);
      beginIfNeeded(tokens);
      if (tokens > room) {
        rest.push(part);
        continue;
      }
      questions.at(-1)?.push(part);
      room -= tokens;
    }
  }
  return { questions, rest };
}
