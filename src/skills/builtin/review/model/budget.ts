/**
 * The share of the change in one question: 72 KB of text. With guidelines and instructions, this stays far
 * below the limit on prompts.
 */
const QUESTION_TOKENS = 24_000;
export const EFFORTS = ['low', 'medium', 'high'] as const;
export type Effort = (typeof EFFORTS)[number];
/** Questions per review. The maximum covers about as much as a person can read in a day. */
export const QUESTIONS: Readonly<Record<Effort, number>> = { low: 2, medium: 4, high: 8 };

/** Code has three to four bytes per token. Three makes the questions rather smaller. */
export const BYTES_A_TOKEN = 3;

/**
 * An estimate of a text's tokens. Costs are counted elsewhere (`engine/models/ledger.ts`), with upper bounds.
 */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

export interface Share<T> {
  /** The parts of each question, in the given order. */
  questions: T[][];
  /** The parts that do not fit. */
  rest: T[];
}

/**
 * The tokens of a part. The exact number requires rendering the part, so there is a lower bound for parts
 * that cannot fit.
 */
export interface Size<T> {
  atLeast(part: T): number;
  exactly(part: T): number;
}

/**
 * Distributes parts over questions. A group (all parts of a file) stays together if one question can hold it.
 * Parts are read in the given order, so the caller sets the priority.
 */
export function shareOut<T>(
  groups: readonly (readonly T[])[],
  size: Size<T>,
  { perQuestion = QUESTION_TOKENS, questions: most = QUESTIONS.high } = {},
): Share<T> {
  const questions: T[][] = [];
  const rest: T[] = [];
  let left = 0;
  const mayBegin = () => questions.length < most;
  const beginIfNeeded = (tokens: number) => {
    if (tokens <= left || tokens > perQuestion || !mayBegin()) return;
    questions.push([]);
    left = perQuestion;
  };
  for (const group of groups) {
    if (mayBegin()) beginIfNeeded(group.reduce((sum, part) => sum + size.exactly(part), 0));
    for (const part of group) {
      const tokens = !mayBegin() && size.atLeast(part) > left ? Number.POSITIVE_INFINITY : size.exactly(part);
      beginIfNeeded(tokens);
      if (tokens > left) {
        rest.push(part);
        continue;
      }
      questions.at(-1)?.push(part);
      left -= tokens;
    }
  }
  return { questions, rest };
}
