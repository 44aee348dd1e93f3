import type { Chain } from '../domain/chain/chain.ts';
import type { LintedChain } from '../domain/chain/lint.ts';
import type { SkillPackage } from '../domain/skill/package.ts';

/** A chain of the program itself. */
export interface ShippedChain {
  chain: Chain;
  /** In the program's package. */
  file: string;
  text: string;
  /** It runs only in repositories whose settings name it. */
  onlyIfNamed: boolean;
}

/** What is checked of a text that somebody wrote for a chain file. */
export interface CheckedChain extends LintedChain {
  /** The chain's name, if the text has one. */
  name: string | undefined;
  chain: Chain | undefined;
}

/** What the program knows about chains and skills by itself, without a database. */
export interface ChainTools {
  shippedChains: readonly ShippedChain[];
  shippedSkills: readonly SkillPackage[];
  /** The names of the skills that are part of the program's code. */
  builtInSkills: readonly string[];
  /** As `countersign chain lint` checks a file in an empty folder. Bounded work, whatever the text. */
  check(text: string): CheckedChain;
}
