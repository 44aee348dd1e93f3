import { flowsOf } from './flows.ts';
import type { Weakness } from './found.ts';
import { findPrototypePollution } from './prototype-pollution.ts';
import { resolveScopes } from './scopes.ts';
import { findSinks } from './sinks.ts';
import { findSlowPatterns } from './slow-regexp.ts';
import { parseSource } from './syntax.ts';

/**
 * Finds weaknesses in one file of JavaScript or TypeScript. Pure.
 * @throws SyntaxError if the text cannot be parsed, RangeError if it is nested too deep or too large
 */
export function checkFile(text: string, language: 'javascript' | 'typescript' | 'tsx'): Weakness[] {
  const flows = flowsOf(resolveScopes(parseSource(text, language)));
  const found = [...findPrototypePollution(flows), ...findSinks(flows), ...findSlowPatterns(flows)];
  const known = new Set<string>();
  return found
    .sort((a, b) => a.line - b.line)
    .filter(({ rule, line }) => !known.has(`${rule} ${line}`) && known.add(`${rule} ${line}`));
}
