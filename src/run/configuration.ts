import { LRUCache } from 'lru-cache';
import type { Chain } from '../chain/chain.ts';
import { parseChain } from '../chain/parse.ts';
import { type ParsedChain, resolveChains } from '../chain/scope.ts';
import {
  defaultSettings,
  mergeSettings,
  parseSettings,
  type Settings,
  type SettingsFile,
} from '../chain/settings.ts';
import type { Clock } from '../core/clock.ts';
import type { Fault } from '../core/fault.ts';
import type { GitHub, GitHubReader, Repo, TreeEntry } from '../github/github.ts';
import { tooLarge } from '../words/configuration-check.ts';

export const CHAINS_FOLDER = '.github/countersign/chains';
export const SETTINGS_FILE = '.github/countersign.yml';
/** Where an organisation's `.github` repository keeps its chains and its default settings. */
const ORGANISATION_CHAINS = 'countersign/chains';
export const MAX_FILE_BYTES = 65_536;
const MAX_CHAIN_FILES = 100;
/** GitHub may leave files out of the list of a push larger than this, so such a one is read anew. */
const MAX_TRUSTED_PATHS = 200;
/** How long an organisation's files are believed without asking again, in milliseconds. */
const ORGANISATION_TTL_MS = 60_000;

export interface BrokenFile {
  file: string;
  /** The chain that does not run because of it; `undefined` when it is the settings file. */
  chain: string | undefined;
  faults: readonly Fault[];
}

/** What governs a repository, read from its base branch, its organisation and what ships. */
export interface Configuration {
  /** The commit it was read from. */
  sha: string;
  chains: Chain[];
  settings: Settings;
  /** Files that cannot be used, with all that is wrong in them. */
  broken: BrokenFile[];
}

export interface Names {
  skills: string[];
  actions: string[];
}

interface Scope {
  chains: ParsedChain[];
  settings: SettingsFile | undefined;
  settingsFaults: Fault[];
}

const EMPTY: Scope = { chains: [], settings: undefined, settingsFaults: [] };

/**
 * Reads what governs a pull request from the base branch's commit, never from its head (invariant I4). A broken file
 * shadows what it would have replaced: falling back to a wider scope could run a laxer chain than was meant.
 */
export interface ConfigurationLoader {
  /** At a branch's tip; `undefined` when there is no such branch. */
  atBranch(installationId: number, repo: Repo, branch: string): Promise<Configuration | undefined>;
  /** At a commit of a branch of the repository itself, never of a pull request's head. */
  atCommit(installationId: number, repo: Repo, sha: string): Promise<Configuration>;
  /** Tells that a push changed these files: what is known of the commit before may hold for the one after. */
  pushed(repo: Repo, push: { before: string; after: string; paths: readonly string[] }): void;
}

export function createConfigurationLoader(deps: {
  github: GitHub;
  clock: Clock;
  names: Names;
  shipped: readonly ParsedChain[];
}): ConfigurationLoader {
  const { github, clock, names, shipped } = deps;
  const repositories = new LRUCache<string, Promise<Scope>>({ max: 500 });
  const organisations = new LRUCache<string, { scope: Promise<Scope>; until: number }>({ max: 100 });
  const tips = new Map<string, Promise<string | undefined>>();

  /** A commit never changes, so what it holds is read once; a failed read is forgotten. */
  function ofRepository(reader: GitHubReader, repo: Repo, sha: string): Promise<Scope> {
    const key = `${repo.owner}/${repo.name}@${sha}`;
    const known = repositories.get(key);
    if (known) return known;
    const reading = readRepository(reader, repo, sha);
    repositories.set(key, reading);
    reading.catch(() => repositories.delete(key));
    return reading;
  }

  async function readRepository(reader: GitHubReader, repo: Repo, sha: string): Promise<Scope> {
    const root = await reader.folder(repo, '.github', sha);
    const hasChains = root?.some((entry) => entry.type === 'dir' && entry.path === '.github/countersign');
    const chainFiles = hasChains ? ((await reader.folder(repo, CHAINS_FOLDER, sha)) ?? []) : [];
    const settings = root?.find((entry) => entry.type === 'file' && entry.path === SETTINGS_FILE);
    return readScope(reader, repo, chainFiles, settings, '');
  }

  function ofOrganisation(reader: GitHubReader, owner: string): Promise<Scope> {
    const known = organisations.get(owner);
    if (known && known.until > clock.now().getTime()) return known.scope;
    const scope = readOrganisation(reader, owner);
    organisations.set(owner, { scope, until: clock.now().getTime() + ORGANISATION_TTL_MS });
    scope.catch(() => organisations.delete(owner));
    return scope;
  }

  async function readOrganisation(reader: GitHubReader, owner: string): Promise<Scope> {
    const repo = { owner, name: '.github' };
    const tree = (await reader.tree(repo, 'HEAD')) ?? [];
    const chainFiles = tree.filter((entry) => folderOf(entry.path) === ORGANISATION_CHAINS);
    const settings = tree.find((entry) => entry.type === 'file' && entry.path === SETTINGS_FILE);
    return readScope(reader, repo, chainFiles, settings, `${owner}/.github:`);
  }

  /** Events that come together, such as a push and its pull request, share one read of the tip. */
  function tipOf(reader: GitHubReader, repo: Repo, branch: string): Promise<string | undefined> {
    const key = `${repo.owner}/${repo.name}:${branch}`;
    const reading = tips.get(key) ?? reader.branchTip(repo, branch).finally(() => tips.delete(key));
    tips.set(key, reading);
    return reading;
  }

  async function readScope(
    reader: GitHubReader,
    repo: Repo,
    chainFiles: readonly TreeEntry[],
    settingsFile: TreeEntry | undefined,
    prefix: string,
  ): Promise<Scope> {
    const files = chainFiles.filter((entry) => entry.type === 'file' && /\.ya?ml$/.test(entry.path));
    if (files.length === 0 && !settingsFile) return EMPTY;
    const chains = await Promise.all(
      files.map(async (entry, index): Promise<ParsedChain> => {
        const file = prefix + entry.path;
        if (index >= MAX_CHAIN_FILES) return { file, faults: [tooMany(file)] };
        const text = await textOf(reader, repo, entry);
        if (text === undefined) return { file, faults: [tooLargeFault(file)] };
        return { file, ...parseChain(text, file, names) };
      }),
    );
    if (!settingsFile) return { ...EMPTY, chains };
    const file = prefix + settingsFile.path;
    const text = await textOf(reader, repo, settingsFile);
    const parsed = text === undefined ? { faults: [tooLargeFault(file)] } : parseSettings(text, file, names);
    return { chains, settings: parsed.settings, settingsFaults: parsed.faults };
  }

  return {
    atCommit,
    pushed(repo, { before, after, paths }) {
      const known = repositories.get(`${repo.owner}/${repo.name}@${before}`);
      const untouched =
        paths.length <= MAX_TRUSTED_PATHS && !paths.some((path) => path.startsWith('.github/'));
      if (known && untouched) repositories.set(`${repo.owner}/${repo.name}@${after}`, known);
    },
    async atBranch(installationId, repo, branch) {
      const sha = await tipOf(github.reader(installationId), repo, branch);
      return sha === undefined ? undefined : atCommit(installationId, repo, sha);
    },
  };

  async function atCommit(installationId: number, repo: Repo, sha: string): Promise<Configuration> {
    const reader = github.reader(installationId);
    const [repository, organisation] = await Promise.all([
      ofRepository(reader, repo, sha),
      ofOrganisation(reader, repo.owner),
    ]);
    const resolved = resolveChains({
      repository: repository.chains,
      organisation: organisation.chains,
      shipped: [...shipped],
    });
    const settings = mergeSettings(organisation.settings, repository.settings);
    const broken = resolved.broken.map(({ file, chain, faults }): BrokenFile => ({ file, chain, faults }));
    const settingsFaults = [...repository.settingsFaults, ...organisation.settingsFaults];
    if (settingsFaults.length > 0) {
      // Without its settings it is not known who may countersign: nothing runs until they can be read.
      broken.push({
        file: settingsFaults[0]?.file ?? SETTINGS_FILE,
        chain: undefined,
        faults: settingsFaults,
      });
      return { sha, chains: [], settings: defaultSettings, broken };
    }
    const chains = resolved.chains.filter(
      (chain) => settings.chains === undefined || settings.chains.includes(chain.name),
    );
    return { sha, chains, settings, broken };
  }
}

async function textOf(reader: GitHubReader, repo: Repo, entry: TreeEntry): Promise<string | undefined> {
  const bytes = await reader.blob(repo, entry.sha, MAX_FILE_BYTES);
  return bytes && new TextDecoder().decode(bytes);
}

export function tooLargeFault(file: string): Fault {
  return { file, line: 1, column: 1, message: tooLarge };
}

function tooMany(file: string): Fault {
  const message = `only the first ${MAX_CHAIN_FILES} chain files of a folder are read`;
  return { file, line: 1, column: 1, message };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
