import type { Diagnostic } from '../../core/diagnostic.ts';
import type { Chain } from './chain.ts';
import { checkCalls } from './check-calls.ts';
import type { KnownNames } from './known-names.ts';
import { chainWarnings } from './parse.ts';
import type { ParsedChain } from './scope.ts';

/** What a check of chain files says about one, wherever it is checked. */
export interface LintedChain {
  errors: readonly Diagnostic[];
  /** What is allowed and probably a mistake. Empty if the file has errors. */
  warnings: readonly Diagnostic[];
}

/**
 * Adds to the diagnostics of one chain file what concerns the chains around it, and the warnings.
 * @param others the chains that are known here. Those of an organisation or of a server can be missing, so a step may run
 * an unknown chain
 */
export function lintChain(
  text: string,
  { file, chain, diagnostics }: ParsedChain,
  known: KnownNames,
  others: () => readonly Chain[],
): LintedChain {
  const calls =
    chain && diagnostics.length === 0 ? checkCalls(text, chain, file, others, { isComplete: false }) : [];
  const errors = [...diagnostics, ...calls];
  return { errors, warnings: errors.length > 0 ? [] : chainWarnings(text, file, known, { chain, others }) };
}
