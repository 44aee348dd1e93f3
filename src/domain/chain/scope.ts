import type { Diagnostic } from '../../core/diagnostic.ts';
import type { Chain } from './chain.ts';
import type { Settings } from './settings.ts';

/** Nearest first. `stored`: the operator defined it in the database. */
export const SCOPES = ['repository', 'organisation', 'stored', 'shipped'] as const;
export type Scope = (typeof SCOPES)[number];

/** One chain file after parsing. `name` is the name inside a broken file, if it is readable. */
export interface ParsedChain {
  file: string;
  /** It runs only if the settings name it. */
  onlyIfNamed?: true;
  chain?: Chain | undefined;
  name?: string | undefined;
  diagnostics: Diagnostic[];
}

/** A name that no chain runs under, because the nearest file with that name has diagnostics. */
export interface BrokenChain {
  chain: string;
  scope: Scope;
  file: string;
  diagnostics: Diagnostic[];
}

/**
 * The chains in force, by name; the nearest scope wins. A broken file disables its name: no chain of that
 * name from a farther scope runs, because somebody overrode it for a reason. If the name inside a broken file
 * is not readable, its file name counts. Two files of one scope with one name are both broken.
 */
export function resolveChains(scopes: Readonly<Record<Scope, readonly ParsedChain[]>>): {
  chains: Chain[];
  /** The names of those that run only if the settings name them. */
  onlyIfNamed: string[];
  broken: BrokenChain[];
  /** Every name for which a file exists, broken or not. */
  names: string[];
} {
  const chains: Chain[] = [];
  const onlyIfNamed: string[] = [];
  const broken: BrokenChain[] = [];
  const taken = new Set<string>();
  for (const scope of SCOPES) {
    for (const [name, files] of byName(scopes[scope])) {
      if (taken.has(name)) continue;
      taken.add(name);
      const [first, ...others] = files;
      if (first?.chain && first.diagnostics.length === 0 && others.length === 0) {
        chains.push(first.chain);
        if (first.onlyIfNamed) onlyIfNamed.push(name);
      } else {
        for (const { file, diagnostics } of files) {
          broken.push({
            chain: name,
            scope,
            file,
            diagnostics: others.length > 0 ? [...diagnostics, clash(file, name, files)] : diagnostics,
          });
        }
      }
    }
  }
  return {
    chains: chains.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    onlyIfNamed,
    names: [...taken].sort(),
    broken: broken.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0)),
  };
}

/** Whether a chain that is there runs, by the settings. */
export function isChosen(
  name: string,
  { chains: chosen }: Pick<Settings, 'chains'>,
  onlyIfNamed: readonly string[],
): boolean {
  return chosen === undefined ? !onlyIfNamed.includes(name) : chosen.includes(name);
}

function byName(files: readonly ParsedChain[]): Map<string, ParsedChain[]> {
  return Map.groupBy(files, nameOf);
}

/** The name of a chain file, whether or not the chain is usable. */
export function nameOf({ chain, name, file }: ParsedChain): string {
  return chain?.name ?? name ?? baseName(file);
}

function baseName(file: string): string {
  return (file.split('/').at(-1) ?? file).replace(/\.ya?ml$/, '');
}

function clash(file: string, name: string, files: readonly ParsedChain[]): Diagnostic {
  const others = files.filter((other) => other.file !== file).map((other) => other.file);
  return {
    file,
    line: 1,
    column: 1,
    message: `the chain name "${name}" is also used by ${others.join(', ')}`,
  };
}
