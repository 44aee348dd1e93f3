import { RE2JS, RE2JSException } from 're2js';
import { MAX_PATTERN_LENGTH } from './rule.ts';

/** Longer texts are refused before they are matched, in UTF-16 units. */
export const MAX_MATCHED_LENGTH = 4_096;

/**
 * Instructions of a compiled pattern, at most. Time grows with them as with the text: at this size the worst patterns
 * found take some tenths of a second for the longest text, and honest ones stay far below either.
 */
const MAX_INSTRUCTIONS = 300;

/** A regular expression that cannot be used; the message says why. */
export class PatternError extends Error {
  /** Whether it could be read, and is refused for what it would cost. */
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge: boolean) {
    super(message);
    this.name = 'PatternError';
    this.tooLarge = tooLarge;
  }
}

export interface Pattern {
  /** Whether the whole text matches. A part is not enough: `v\d+` would then let `anything v1 at all` pass. */
  match(text: string): 'matches' | 'differs' | 'too_long';
  /** Whether some part of the text matches; of a text that is too long, none does. */
  isFoundIn(text: string): boolean;
}

/**
 * Compiles a regular expression in RE2's syntax, which leaves out look-around and back-references: what they need,
 * backtracking, takes exponential time for some texts, and texts come from strangers.
 * @throws PatternError, and nothing else.
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
