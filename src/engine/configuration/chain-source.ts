import type { Diagnostic } from '../../core/diagnostic.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import type { ParsedChain } from '../../domain/chain/scope.ts';

/** A chain file as read. What it means depends on the skills there are, which are read from elsewhere too. */
export interface ChainSource {
  parse(names: Required<KnownNames>): ParsedChain;
}

/** Reads it once for each set of names: the same file comes up with every event. */
export function chainSource(text: string, file: string): ChainSource {
  let last: { key: string; parsed: ParsedChain } | undefined;
  return {
    parse(names) {
      const key = JSON.stringify(names);
      if (last?.key !== key) last = { key, parsed: { file, ...parseChain(text, file, names) } };
      return last.parsed;
    },
  };
}

export function brokenChainSource(diagnostic: Diagnostic): ChainSource {
  return { parse: () => ({ file: diagnostic.file, diagnostics: [diagnostic] }) };
}
