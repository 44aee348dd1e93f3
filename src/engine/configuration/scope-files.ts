import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { textOfFile } from '../../core/text.ts';
import {
  CHAINS_FOLDER,
  FOLDER,
  isChainFile,
  isOfOrganisation,
  MAX_CHAIN_FILES,
  MAX_CONFIGURATION_BYTES,
  ORGANISATION_CHAINS,
  ORGANISATION_REPOSITORY,
  ORGANISATION_SKILLS,
  SETTINGS_FILE,
  SKILLS_FOLDER,
} from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import type { RolloutSetting } from '../../domain/chain/rollout-setting.ts';
import type { ParsedChain } from '../../domain/chain/scope.ts';
import type { ParsedPackage } from '../../domain/skill/package.ts';
import {
  organisationGone,
  organisationUnreadable,
  tooManyChainFiles,
} from '../../messages/check-run/configuration-check.ts';
import { GitHubError, type GitHubReader, type Repo, type TreeEntry } from '../../ports/github.ts';
import type { OrganisationMemory } from './organisation-memory.ts';
import {
  NO_SETTINGS,
  type SettingsSource,
  settingsSource,
  tooLargeDiagnostic,
  unreadableSettings,
} from './settings-source.ts';
import { readSkills } from './skill-files.ts';

/** For larger pushes, GitHub may omit files from the list, so everything is read again. */
const MAX_TRUSTED_PATHS = 200;
/** How long an organisation's files are cached without asking GitHub, in milliseconds. */
const ORGANISATION_TTL_MS = 60_000;

/** The configuration of one scope: a repository, or an organisation for all its repositories. */
export interface Scope {
  chains: readonly ChainSource[];
  skills: readonly ParsedPackage[];
  settings: SettingsSource;
  /** Why the content is unknown. */
  outOfSight?: Diagnostic;
}

const EMPTY_SCOPE: Scope = { chains: [], skills: [], settings: NO_SETTINGS };

function isEmpty({ chains, skills, settings }: Scope): boolean {
  return chains.length === 0 && skills.length === 0 && settings === NO_SETTINGS;
}

function outOfSight(owner: string, message: string): Scope {
  const diagnostic = { file: `${owner}/${ORGANISATION_REPOSITORY}`, line: 1, column: 1, message };
  return {
    ...EMPTY_SCOPE,
    settings: unreadableSettings(diagnostic, { mentioned: false }),
    outOfSight: diagnostic,
  };
}

/** Reads configuration files from GitHub, with as few requests as possible without using outdated data. */
export interface ScopeFiles {
  ofRepository(reader: GitHubReader, repo: Repo, sha: string): Promise<Scope>;
  /** @param fresh asks GitHub in any case; conditional requests make that cheap */
  ofOrganisation(reader: GitHubReader, owner: string, fresh: boolean): Promise<Scope>;
  /**
   * Reports that a push changed these files, so that the cache for the commit before can be reused for the
   * commit after.
   */
  pushed(repo: Repo, push: { before: string; after: string; paths: readonly string[] }): void;
  organisationPushed(owner: string): void;
  /**
   * What the organisation says of the rollout; `unreadable` if it says something that cannot be read, now or since it was last
   * readable. One whose settings never mentioned it has said nothing.
   */
  rolloutOf(reader: GitHubReader, owner: string): Promise<RolloutSetting | 'unreadable' | undefined>;
}

export function createScopeFiles({
  clock,
  memory,
}: {
  clock: Clock;
  memory: OrganisationMemory;
}): ScopeFiles {
  const repositories = new LRUCache<string, Promise<Scope>>({ max: 500 });
  const organisations = new LRUCache<string, { scope: Promise<Scope>; until: number }>({ max: 100 });
  const texts = new LRUCache<string, Promise<string | undefined>>({ max: 500 });

  return {
    ofRepository,
    ofOrganisation,
    pushed(repo, { before, after, paths }) {
      const known = repositories.get(`${repo.owner}/${repo.name}@${before}`);
      const untouched =
        paths.length <= MAX_TRUSTED_PATHS && !paths.some((path) => path.startsWith('.github/'));
      if (known && untouched) repositories.set(`${repo.owner}/${repo.name}@${after}`, known);
    },
    organisationPushed: (owner) => organisations.delete(owner.toLowerCase()),
    async rolloutOf(reader, owner) {
      const { settings } = await ofOrganisation(reader, owner, false);
      const rollout = settings.rollout();
      if (rollout.kind === 'read') return rollout.setting;
      const isSet = rollout.mentioned || (await memory.recall(owner))?.setsRollout === true;
      return isSet ? 'unreadable' : undefined;
    },
  };

  /** A commit never changes, so it is read once. A failed read is not cached. */
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
    const folder = root?.find((entry) => entry.type === 'dir' && entry.path === FOLDER);
    const inside = folder ? await wholeTree(reader, repo, folder.sha) : [];
    const entries = inside.map((entry) => ({ ...entry, path: `${FOLDER}/${entry.path}` }));
    const settings = root?.find((entry) => entry.type === 'file' && entry.path === SETTINGS_FILE);
    return readScope(reader, repo, entries, settings, { chains: CHAINS_FOLDER, skills: SKILLS_FOLDER }, '');
  }

  function ofOrganisation(reader: GitHubReader, owner: string, fresh: boolean): Promise<Scope> {
    const key = owner.toLowerCase();
    const known = organisations.get(key);
    if (!fresh && known && known.until > clock.now().getTime()) return known.scope;
    const scope = readOrganisation(reader, owner);
    organisations.set(key, { scope, until: clock.now().getTime() + ORGANISATION_TTL_MS });
    scope.catch(() => organisations.delete(key));
    return scope;
  }

  /**
   * An organisation's configuration for all its repositories. Reads the default branch's name first: the API
   * for trees takes "the SHA1 value or ref (branch or tag) name", and its documentation does not mention a
   * symbolic `HEAD` (https://docs.github.com/en/rest/git/trees).
   */
  async function readOrganisation(reader: GitHubReader, owner: string): Promise<Scope> {
    const repo = { owner, name: ORGANISATION_REPOSITORY };
    try {
      const { defaultBranch } = await reader.repository(repo);
      const sha = await reader.branchTip(repo, defaultBranch);
      const scope = sha === undefined ? EMPTY_SCOPE : await organisationAt(reader, owner, sha);
      const rollout = scope.settings.rollout();
      await memory.note(
        owner,
        sha === undefined || isEmpty(scope)
          ? null
          : { sha, ...(rollout.kind === 'read' && { setsRollout: rollout.setting !== undefined }) },
      );
      return scope;
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
      switch (error.kind) {
        case 'not_found':
          return emptyUnlessSeen(owner);
        case 'forbidden':
          // 403 means that this repository is refused. With any other status, the app itself could not sign
          // in, which is temporary.
          if (error.status !== 403) throw error;
          return outOfSight(owner, organisationUnreadable(owner, error.message));
        case 'invalid':
          return outOfSight(owner, organisationUnreadable(owner, error.message));
        case 'rate_limited':
        case 'unavailable':
          throw error;
        default:
          return unreachable(error.kind);
      }
    }
  }

  /**
   * A 404 means "no configuration" only if there never was any: GitHub answers the same when the app lost its
   * access.
   */
  async function emptyUnlessSeen(owner: string): Promise<Scope> {
    const seen = await memory.recall(owner);
    return seen ? outOfSight(owner, organisationGone(owner, seen)) : EMPTY_SCOPE;
  }

  function organisationAt(reader: GitHubReader, owner: string, sha: string): Promise<Scope> {
    const key = `${owner}@${sha}`;
    const known = repositories.get(key);
    if (known) return known;
    const reading = readOrganisationAt(reader, owner, sha);
    repositories.set(key, reading);
    reading.catch(() => repositories.delete(key));
    return reading;
  }

  async function readOrganisationAt(reader: GitHubReader, owner: string, sha: string): Promise<Scope> {
    const repo = { owner, name: ORGANISATION_REPOSITORY };
    const tree = await wholeTree(reader, repo, sha);
    const settings = tree.find((entry) => entry.type === 'file' && entry.path === SETTINGS_FILE);
    const folders = { chains: ORGANISATION_CHAINS, skills: ORGANISATION_SKILLS };
    return readScope(reader, repo, tree, settings, folders, `${owner}/.github:`);
  }

  async function readScope(
    reader: GitHubReader,
    repo: Repo,
    entries: readonly TreeEntry[],
    settingsFile: TreeEntry | undefined,
    folders: { chains: string; skills: string },
    prefix: string,
  ): Promise<Scope> {
    const read = (entry: TreeEntry) => textOf(reader, repo, entry);
    const chainFiles = entries.filter(
      ({ path, type }) => type === 'file' && isChainFile(path, folders.chains),
    );
    const [chains, skills] = await Promise.all([
      Promise.all(
        chainFiles.map(async (entry, index): Promise<ChainSource> => {
          const file = prefix + entry.path;
          if (index >= MAX_CHAIN_FILES) return brokenChainSource(tooMany(file));
          const text = await read(entry);
          return text === undefined ? brokenChainSource(tooLargeDiagnostic(file)) : chainSource(text, file);
        }),
      ),
      readSkills(entries, folders.skills, prefix, read),
    ]);
    if (!settingsFile) return { chains, skills, settings: NO_SETTINGS };
    const file = prefix + settingsFile.path;
    const settings = settingsSource(await read(settingsFile), file, { mayRollOut: isOfOrganisation(repo) });
    return { chains, skills, settings };
  }

  /** A blob never changes, in whatever commit it is. A failed read is not cached. */
  function textOf(reader: GitHubReader, repo: Repo, entry: TreeEntry): Promise<string | undefined> {
    const key = `${repo.owner}/${repo.name}:${entry.sha}`;
    const known = texts.get(key);
    if (known) return known;
    const reading = reader
      .blob(repo, entry.sha, MAX_CONFIGURATION_BYTES)
      .then((bytes) => bytes && textOfFile(bytes));
    texts.set(key, reading);
    reading.catch(() => texts.delete(key));
    return reading;
  }
}

/**
 * GitHub has just named this tree, so a 404 is an error of GitHub. It does not mean that there is no
 * configuration.
 */
async function wholeTree(reader: GitHubReader, repo: Repo, sha: string): Promise<TreeEntry[]> {
  const tree = await reader.tree(repo, sha);
  if (tree) return tree;
  throw new GitHubError('unavailable', 404, `GitHub does not show the tree ${sha} that it names itself`);
}

function tooMany(file: string): Diagnostic {
  return { file, line: 1, column: 1, message: tooManyChainFiles(MAX_CHAIN_FILES) };
}

/** The text of a chain file. Its meaning depends on the existing skills, which are read separately. */
export interface ChainSource {
  parse(names: Required<KnownNames>): ParsedChain;
}

/** All files of a configuration are parsed with the same names, of which there are many. */
const keysOfNames = new WeakMap<Required<KnownNames>, string>();

function keyOfNames(names: Required<KnownNames>): string {
  const key = keysOfNames.get(names) ?? JSON.stringify(names);
  keysOfNames.set(names, key);
  return key;
}

/** Parses it once per set of names, because every event uses the same file again. */
export function chainSource(text: string, file: string): ChainSource {
  let last: { key: string; parsed: ParsedChain } | undefined;
  return {
    parse(names) {
      const key = keyOfNames(names);
      if (last?.key !== key) last = { key, parsed: { file, ...parseChain(text, file, names) } };
      return last.parsed;
    },
  };
}

function brokenChainSource(diagnostic: Diagnostic): ChainSource {
  return { parse: () => ({ file: diagnostic.file, diagnostics: [diagnostic] }) };
}
