import { compilePattern, type Pattern } from '../rule/pattern.ts';

/**
 * Compiles an intent pattern as it is matched: in any case, since people write as they speak.
 * @throws PatternError
 */
export function compileIntent(source: string): Pattern {
  return compilePattern(`(?i)${source}`);
}
