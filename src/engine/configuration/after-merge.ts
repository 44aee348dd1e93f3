import type { Diagnostic } from '../../core/diagnostic.ts';
import { type ParsedChain, resolveChains } from '../../domain/chain/scope.ts';
import { inFileOrder } from '../../domain/chain/shape.ts';
import type { PullRequestFile } from '../../ports/github.ts';
import type { Configuration } from './configuration.ts';
import { configurationFile, SETTINGS_FILE } from './configuration-files.ts';
import { NO_SETTINGS, type SettingsSource, unknownIn } from './settings-source.ts';

/** A file as a pull request would have it. */
export interface ChangedFile {
  path: string;
  /** What it defines, if it is read for that. */
  chain?: ParsedChain;
  settings?: SettingsSource;
  /** What is wrong in it by itself; a chain has its own. */
  diagnostics: readonly Diagnostic[];
}

/** Paths at which a pull request leaves nothing of what the app reads there. A copied file stays where it was. */
export function takenAway(files: readonly PullRequestFile[]): string[] {
  return files
    .flatMap(({ path, previousPath = path, status }) =>
      status === 'removed' ? [path] : status === 'renamed' ? [previousPath] : [],
    )
    .filter((path) => ['chain', 'settings'].includes(configurationFile(path) ?? ''));
}

/**
 * The faults that a change of configuration would bring to its base branch, file by file. What was wrong there already and
 * is left as it was is not among them: the pull request did not cause it.
 * @param read what the base branch has
 * @param gone paths that the pull request takes away
 */
export function diagnosticsAfterMerge(
  read: Configuration['read'],
  changes: readonly ChangedFile[],
  gone: readonly string[],
): Diagnostic[] {
  const isNew = (file: string) => changes.some(({ path }) => path === file);
  const stays = (file: string) => !isNew(file) && !gone.includes(file);
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
  const diagnostics = [
    ...changes.flatMap((file) => file.diagnostics),
    ...chains.broken.flatMap((broken) => (isNew(broken.file) ? broken.diagnostics : [])),
    ...unknownIn(settings, chains.names).filter(
      (diagnostic) => isNew(diagnostic.file) || !known.some((other) => isAt(other, diagnostic)),
    ),
  ];
  return [...Map.groupBy(diagnostics, ({ file }) => file)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, ofFile]) => inFileOrder(ofFile));
}

function isAt({ file, line, column }: Diagnostic, other: Diagnostic): boolean {
  return file === other.file && line === other.line && column === other.column;
}
