import { RE2JS, RE2JSException } from 're2js';
import { MAX_PATTERN_LENGTH } from './rule.ts';

/** In UTF-16 units. Longer texts are refused before matching. */
export const MAX_MATCHED_LENGTH = 4_096;

/**
 * The maximum number of instructions of a compiled pattern. Matching time grows with them and with the text.
 * At this size, the worst known patterns take a few tenths of a second for the longest text. Normal patterns
 * are far below.
 */
const MAX_INSTRUCTIONS = 300;

/** A regular expression that cannot be used; the message says why. */
export class PatternError extends Error {
  /** Whether it is valid but refused because of its cost. */
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge: boolean) {
    super(message);
    this.name = 'PatternError';
    this.tooLarge = tooLarge;
  }
}

export interface Pattern {
  /**
   * Whether the whole text matches. A partial match is not enough: with `v\d+`, `anything v1 at all` would
   * pass.
   */
  match(text: string): 'matches' | 'differs' | 'too_long';
  /** Whether some part of the text matches; false for a text that is too long. */
  isFoundIn(text: string): boolean;
}

/**
 * Compiles a regular expression in RE2's syntax, which has no look-around and no back-references. Those need
 * backtracking, which takes exponential time for some texts, and texts come from untrusted users.
 * @throws PatternError, and no other error
 */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`the pattern has more than ${MAX_PATTERN_LENGTH} characters`, true);
  }
  const compiled = compile(source);
  if (compiled.programSize() > MAX_INSTRUCTIONS) {
    throw new PatternError(
      'the pattern is too large once its repetitions such as {1,200} are written out',
      true,
    );
  }
  return {
    match(text) {
      if (text.length > MAX_MATCHED_LENGTH) return 'too_long';
      return compiled.matches(text) ? 'matches' : 'differs';
    },
    isFoundIn: (text) => text.length <= MAX_MATCHED_LENGTH && compiled.test(text),
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const because = error.message.replace(/^error parsing regexp: /, '');
    throw new PatternError(`the pattern cannot be used: ${because}`, false);
  }
}
