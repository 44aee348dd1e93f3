import type { Diagnostic } from '../../core/diagnostic.ts';
import type { Chain } from './chain.ts';
import { type Callable, callable, checkCalls } from './check-calls.ts';
import { type FiringCycles, firingCycles } from './firing-cycle.ts';
import type { KnownNames } from './known-names.ts';
import { chainWarnings } from './parse.ts';
import type { YamlSource } from './positions.ts';
import type { ParsedChain } from './scope.ts';

/** What a check of chain files says about one, wherever it is checked. */
export interface LintedChain {
  errors: readonly Diagnostic[];
  /** What is allowed and probably a mistake. Empty if the file has errors. */
  warnings: readonly Diagnostic[];
}

/** The chains that are checked with one, or known where it is checked. Those of an organisation or of a server can be missing. */
export interface ChainsAround {
  calls: Callable;
  cycles: FiringCycles;
}

/** @param outcomes the kind that each skill states */
export function chainsAround(others: () => readonly Chain[], { outcomes = {} }: KnownNames): ChainsAround {
  let read: readonly Chain[] | undefined;
  const once = () => (read ??= others());
  return { calls: callable(once), cycles: firingCycles(once, outcomes) };
}

/** Adds to the diagnostics of one chain file what concerns the chains around it, and the warnings. A step may run an unknown chain. */
export function lintChain(
  source: YamlSource,
  { chain, diagnostics }: Pick<ParsedChain, 'chain' | 'diagnostics'>,
  known: KnownNames,
  around: ChainsAround,
): LintedChain {
  const calls =
    chain && diagnostics.length === 0 ? checkCalls(source, chain, around.calls, { isComplete: false }) : [];
  const errors = [...diagnostics, ...calls];
  return {
    errors,
    warnings: errors.length > 0 ? [] : chainWarnings(source, known, { chain, cycles: around.cycles }),
  };
}
