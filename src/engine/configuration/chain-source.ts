import type { Diagnostic } from '../../core/diagnostic.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import type { ParsedChain } from '../../domain/chain/scope.ts';

/** The text of a chain file. Its meaning depends on the existing skills, which are read separately. */
export interface ChainSource {
  parse(names: Required<KnownNames>): ParsedChain;
}

/** Parses it once per set of names, because every event uses the same file again. */
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
