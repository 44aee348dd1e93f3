import { compilePattern, type Pattern } from '../rule/pattern.ts';

/**
 * Compiles an intent pattern. Matching ignores case.
 * @throws PatternError
 */
export function compileIntent(source: string): Pattern {
  return compilePattern(`(?i)${source}`);
}
