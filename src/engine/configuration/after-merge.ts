import type { Diagnostic } from '../../core/diagnostic.ts';
import { checkCalls } from '../../domain/chain/check-calls.ts';
import {
  chainFilesBeyond,
  configurationFile,
  MAX_CHAIN_FILES,
  SETTINGS_FILE,
} from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { chainsAround } from '../../domain/chain/lint.ts';
import { searchBudget } from '../../domain/chain/never-runs.ts';
import { chainWarnings } from '../../domain/chain/parse.ts';
import { readYaml } from '../../domain/chain/positions.ts';
import { type ParsedChain, resolveChains } from '../../domain/chain/scope.ts';
import { inFileOrder } from '../../domain/chain/shape.ts';
import { tooManyChainFiles } from '../../messages/check-run/configuration-check.ts';
import type { PullRequestFile } from '../../ports/github.ts';
import type { Configuration } from './configuration.ts';
import { NO_SETTINGS, type SettingsSource, unknownIn } from './settings-source.ts';

/** A file as it would be after the merge of a pull request. */
export interface ChangedFile {
  path: string;
  /** The chain or settings in it, if it is such a file. */
  chain?: ParsedChain;
  /** The text of a chain file. */
  text?: string;
  settings?: SettingsSource;
  /** The errors of the file itself. A chain has its own list. */
  diagnostics: readonly Diagnostic[];
}

/**
 * Paths of configuration files that a pull request deletes or renames. A copied file also stays at its old
 * path.
 */
export function removedPaths(files: readonly PullRequestFile[]): string[] {
  return files
    .flatMap(({ path, previousPath = path, status }) =>
      status === 'removed' ? [path] : status === 'renamed' ? [previousPath] : [],
    )
    .filter((path) => ['chain', 'settings'].includes(configurationFile(path) ?? ''));
}

/**
 * The errors that a change of configuration would cause on its base branch, file by file, and the warnings of its chains. Existing
 * errors in unchanged files are left out, because the pull request did not cause them.
 * @param read what the base branch has
 * @param removed paths that the pull request removes
 * @param names what chains can name
 */
export function diagnosticsAfterMerge(
  read: Configuration['read'],
  changes: readonly ChangedFile[],
  removed: readonly string[],
  names: KnownNames,
): { errors: Diagnostic[]; warnings: Diagnostic[] } {
  const isNew = (file: string) => changes.some(({ path }) => path === file);
  const stays = (file: string) => !isNew(file) && !removed.includes(file);
  const settings = {
    ...read.settings,
    repository:
      changes.find((file) => file.settings)?.settings ??
      (stays(SETTINGS_FILE) ? read.settings.repository : NO_SETTINGS),
  };
  const chains = resolveChains({
    ...read.chains,
    repository: [
      ...read.chains.repository.filter(({ file }) => stays(file)),
      ...changes.flatMap(({ chain }) => chain ?? []),
    ],
  });
  const known = unknownIn(read.settings, resolveChains(read.chains).names);
  const { calls, cycles } = chainsAround(() => chains.chains, names);
  const sources = changes.flatMap(({ path, chain: { chain } = {}, text }) =>
    chain && text !== undefined ? { chain, source: readYaml(text, path) } : [],
  );
  const files = [
    ...new Set(
      [...read.chains.repository, ...changes.flatMap(({ chain }) => chain ?? [])].map(({ file }) => file),
    ),
  ].filter((file) => !removed.includes(file));
  const before = chainFilesBeyond(read.chains.repository.map(({ file }) => file));
  const errors = [
    ...chainFilesBeyond(files)
      .filter((file) => !before.includes(file))
      .map((file) => ({ file, line: 1, column: 1, message: tooManyChainFiles(MAX_CHAIN_FILES) })),
    ...changes.flatMap((file) => file.diagnostics),
    ...chains.broken.flatMap((broken) => (isNew(broken.file) ? broken.diagnostics : [])),
    ...sources.flatMap(({ chain, source }) =>
      chains.chains.includes(chain)
        ? checkCalls(source, chain, calls, { isComplete: chains.broken.length === 0 })
        : [],
    ),
    ...unknownIn(settings, chains.names).filter(
      (diagnostic) => isNew(diagnostic.file) || !known.some((other) => isAt(other, diagnostic)),
    ),
  ];
  const budget = searchBudget();
  const warnings = sources.flatMap(({ chain, source }) =>
    chainWarnings(source, names, { chain, budget, cycles }),
  );
  return {
    errors: [...Map.groupBy(errors, ({ file }) => file)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, ofFile]) => inFileOrder(ofFile)),
    warnings,
  };
}

function isAt({ file, line, column }: Diagnostic, other: Diagnostic): boolean {
  return file === other.file && line === other.line && column === other.column;
}
