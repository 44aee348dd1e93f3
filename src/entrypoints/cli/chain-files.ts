import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { CountersignError } from '../../core/errors.ts';
import { textOfFile } from '../../core/text.ts';
import type { Contract } from '../../domain/artifact/contract.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import {
  CHAINS_FOLDER,
  chainFilesBeyond,
  configurationFile,
  MAX_CHAIN_FILES,
  MAX_CONFIGURATION_BYTES,
  MISNAMED_SETTINGS,
  ORGANISATION_CHAINS,
  SETTINGS_FILE,
} from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { chainsAround, lintChain } from '../../domain/chain/lint.ts';
import { readChain } from '../../domain/chain/parse.ts';
import { readYaml, type YamlSource } from '../../domain/chain/positions.ts';
import {
  isChosen,
  nameOf,
  type ParsedChain,
  resolveChains,
  SCOPES,
  type Scope,
} from '../../domain/chain/scope.ts';
import { parseSettings, type SettingsFile, unknownChains } from '../../domain/chain/settings.ts';
import { inFileOrder } from '../../domain/chain/shape.ts';
import {
  misplacedChain,
  tooLarge,
  tooManyChainFiles,
  WRONG_SETTINGS_NAME,
} from '../../messages/check-run/configuration-check.ts';
import { noSuchPath, unreadableFile } from '../../messages/cli/cli.ts';

export interface CheckedFile {
  file: string;
  /** The chain's name, if the file is a chain file and has one. */
  chain: string | null;
  diagnostics: readonly Diagnostic[];
  /** What is allowed and probably a mistake. Empty if the file has errors. */
  warnings: readonly Diagnostic[];
  /**
   * The artifacts that each step must produce, including the defaults of its skill. Empty if the file has
   * errors.
   */
  contracts: readonly Contract[];
}

/** A chain name of this folder, with the chain in force or the reason why there is none. */
export interface LocalChain {
  name: string;
  scope: Scope;
  file: string;
  chain: Chain | undefined;
  diagnostics: readonly Diagnostic[];
  /** Whether the settings of this folder let it run. */
  runs: boolean;
}

/** The chains for a repository whose base branch equals this folder, without those of its organisation. */
export function localChains(cwd: string, known: KnownNames, shipped: readonly ParsedChain[]): LocalChain[] {
  const files = yamlIn(cwd, CHAINS_FOLDER);
  const beyond = new Set(chainFilesBeyond(files));
  const scopes = {
    repository: files.map((file) => {
      const parsed = parsedChain(cwd, file, known);
      return beyond.has(file) ? notRead(parsed, tooManyChainFiles(MAX_CHAIN_FILES)) : parsed;
    }),
    organisation: [],
    stored: [],
    shipped,
  };
  const { chains, broken, onlyIfNamed } = resolveChains(scopes);
  const settings = settingsIn(cwd, known);
  const valid = chains.flatMap((chain): LocalChain[] =>
    SCOPES.flatMap((scope) =>
      (scopes[scope] as readonly ParsedChain[])
        .filter((parsed) => parsed.chain === chain)
        .map(({ file }) => {
          const runs = isChosen(chain.name, settings, onlyIfNamed);
          return { name: chain.name, scope, file, chain, diagnostics: [], runs };
        }),
    ),
  );
  const faulty = broken.map(
    ({ chain, scope, file, diagnostics }): LocalChain => ({
      name: chain,
      scope,
      file,
      chain: undefined,
      diagnostics,
      runs: false,
    }),
  );
  return [...valid, ...faulty].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function settingsIn(cwd: string, known: KnownNames): Pick<SettingsFile, 'chains'> {
  const text = kindOf(resolve(cwd, SETTINGS_FILE)) === 'file' ? textOf(cwd, SETTINGS_FILE) : undefined;
  return parseSettings(text ?? '', SETTINGS_FILE, known).settings ?? {};
}

/**
 * Checks files as the app would, under the paths that were given. A folder with `.github` is a repository; of
 * any other folder, the YAML files directly in it are checked.
 * @throws CountersignError if a path does not exist or cannot be read
 */
export function checkFiles(
  cwd: string,
  paths: readonly string[],
  known: KnownNames,
  shipped: () => readonly ParsedChain[],
  foldContracts: (chain: Chain) => Chain,
): CheckedFile[] {
  const files = [
    ...new Set(paths.length === 0 ? ofRepository(cwd, '.') : paths.flatMap((path) => expand(cwd, path))),
  ];
  const chainFiles = files.filter((file) => !isSettings(file));
  const astray = chainFiles.filter((file) => isMisplaced(cwd, file));
  const beyond = new Set(
    [
      ...Map.groupBy(
        chainFiles.filter((file) => isInPlace(cwd, file)),
        dirname,
      ).values(),
    ].flatMap(chainFilesBeyond),
  );
  const sources = new Map(chainFiles.map((file) => [file, sourceOf(cwd, file)]));
  const parsedIn = (file: string) => parsed(file, sources.get(file), known);
  const chains = chainFiles.filter((file) => !astray.includes(file) && !beyond.has(file)).map(parsedIn);
  const ignored = [
    ...astray.map((file) => notRead(parsedIn(file), misplacedChain(file, CHAINS_FOLDER))),
    ...[...beyond].map((file) => notRead(parsedIn(file), tooManyChainFiles(MAX_CHAIN_FILES))),
  ];
  const clashes = [...Map.groupBy(chains, ({ file }) => dirname(file)).values()].flatMap(
    // Two files in a folder with the same name conflict, which neither shows alone.
    (siblings) => resolveChains({ repository: siblings, organisation: [], stored: [], shipped: [] }).broken,
  );
  const around = chainsAround(() => [...shipped(), ...chains].flatMap(({ chain }) => chain ?? []), known);
  const parsedByFile = new Map([...chains, ...ignored].map((parsed) => [parsed.file, parsed]));
  const clashByFile = new Map(clashes.map((clash) => [clash.file, clash]));
  return files.map((file) => {
    const read = parsedByFile.get(file);
    if (!read) {
      const there = [...chains, ...chainsBeside(cwd, file, known), ...shipped()].map(nameOf);
      const diagnostics = settingsDiagnostics(cwd, file, known, [...new Set(there)].sort());
      return { file, chain: null, diagnostics, warnings: [], contracts: [] };
    }
    const own = [...(clashByFile.get(file)?.diagnostics ?? read.diagnostics)];
    const source = sources.get(file);
    const { errors: diagnostics, warnings } = source
      ? lintChain(source, { ...read, diagnostics: own }, known, around)
      : { errors: own, warnings: [] };
    const steps = read.chain && diagnostics.length === 0 ? foldContracts(read.chain).steps : [];
    const contracts = steps.flatMap(({ artifacts }) => artifacts ?? []);
    return { file, chain: read.chain?.name ?? read.name ?? null, diagnostics, warnings, contracts };
  });
}

function parsedChain(cwd: string, file: string, known: KnownNames): ParsedChain {
  return parsed(file, sourceOf(cwd, file), known);
}

/** @param source `undefined` if the file is too large */
function parsed(file: string, source: YamlSource | undefined, known: KnownNames): ParsedChain {
  return source
    ? { file, ...readChain(source, known) }
    : { file, diagnostics: [{ file, line: 1, column: 1, message: tooLarge }] };
}

function sourceOf(cwd: string, file: string): YamlSource | undefined {
  const text = textOf(cwd, file);
  return text === undefined ? undefined : readYaml(text, file);
}

/** Whether the app ignores the file because it is in a subfolder of the chains' folder. */
function isMisplaced(cwd: string, file: string): boolean {
  const path = resolve(cwd, file).split(sep);
  return configurationFile(path.slice(path.lastIndexOf('.github')).join('/')) === 'misplaced chain';
}

/** Whether the app reads chains from the folder of the file. */
function isInPlace(cwd: string, file: string): boolean {
  const folder = resolve(cwd, dirname(file)).split(sep).join('/');
  return [CHAINS_FOLDER, ORGANISATION_CHAINS].some((one) => folder.endsWith(`/${one}`));
}

/** @param message why the app ignores the file */
function notRead({ file, chain, name, diagnostics }: ParsedChain, message: string): ParsedChain {
  const diagnostic = { file, line: 1, column: 1, message };
  return { file, name: chain?.name ?? name, diagnostics: [diagnostic, ...diagnostics] };
}

/** The chains of the repository with this settings file, which can be an organisation's repository. */
function chainsBeside(cwd: string, file: string, known: KnownNames): ParsedChain[] {
  const root = dirname(dirname(file));
  return [CHAINS_FOLDER, ORGANISATION_CHAINS]
    .flatMap((folder) => yamlIn(cwd, join(root, folder)))
    .map((path) => parsedChain(cwd, path, known));
}

function settingsDiagnostics(
  cwd: string,
  file: string,
  known: KnownNames,
  chains: readonly string[],
): readonly Diagnostic[] {
  const first = { file, line: 1, column: 1 };
  if (basename(file) !== basename(SETTINGS_FILE)) return [{ ...first, message: WRONG_SETTINGS_NAME }];
  const text = textOf(cwd, file);
  if (text === undefined) return [{ ...first, message: tooLarge }];
  const { diagnostics } = parseSettings(text, file, known);
  return inFileOrder([...diagnostics, ...(unknownChains(text, file, chains) ?? [])]);
}

/** Includes `countersign.yaml`: the app does not read it, and only an error tells its author. */
function isSettings(file: string): boolean {
  return /^countersign\.ya?ml$/.test(basename(file));
}

function expand(cwd: string, path: string): string[] {
  const kind = kindOf(resolve(cwd, path));
  if (kind === undefined) throw new CountersignError('cli.no_such_file', noSuchPath(path));
  if (kind === 'file') return [path];
  return kindOf(resolve(cwd, path, '.github')) === 'folder' ? ofRepository(cwd, path) : yamlIn(cwd, path);
}

function ofRepository(cwd: string, root: string): string[] {
  const settings = [SETTINGS_FILE, MISNAMED_SETTINGS].map((file) => join(root, file));
  return [
    ...settings.filter((file) => kindOf(resolve(cwd, file)) === 'file'),
    // Includes files in subfolders: the app does not read them, and only an error tells their author.
    ...yamlIn(cwd, join(root, CHAINS_FOLDER), { recursive: true }),
  ];
}

function yamlIn(cwd: string, folder: string, { recursive = false } = {}): string[] {
  if (kindOf(resolve(cwd, folder)) !== 'folder') return [];
  return readdirSync(resolve(cwd, folder), { recursive, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name))
    .filter((file) => kindOf(resolve(cwd, file)) === 'file');
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? 'file' : found?.isDirectory() ? 'folder' : undefined;
}

/** `undefined` if the file exceeds the app's size limit. */
function textOf(cwd: string, file: string): string | undefined {
  try {
    const bytes = readFileSync(resolve(cwd, file));
    return bytes.length > MAX_CONFIGURATION_BYTES ? undefined : textOfFile(bytes);
  } catch (error) {
    throw new CountersignError('cli.unreadable_file', unreadableFile(file), { cause: error });
  }
}
