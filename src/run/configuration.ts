import { LRUCache } from 'lru-cache';
import { foldContracts } from '../artifact/contract.ts';
import { AUTO_SKILL, type Chain } from '../chain/chain.ts';
import { type Scope as ChainScope, type ParsedChain, resolveChains } from '../chain/scope.ts';
import { defaultSettings, mergeSettings, type Settings } from '../chain/settings.ts';
import type { Clock } from '../core/clock.ts';
import type { Fault } from '../core/fault.ts';
import { textOfFile } from '../core/text.ts';
import type { GitHub, GitHubReader, Repo, TreeEntry } from '../github/github.ts';
import {
  contractOf,
  type ParsedPackage,
  referenceTo,
  type SkillPackage,
  withoutOutcome,
} from '../skill/package/package.ts';
import { resolveSkills, type SkillInForce } from '../skill/registry/scope.ts';
import { type ChainSource, chainSource, faultyChain } from './chain-source.ts';
import {
  CHAINS_FOLDER,
  FOLDER,
  isChainFile,
  ORGANISATION_CHAINS,
  ORGANISATION_SKILLS,
  SETTINGS_FILE,
  SKILLS_FOLDER,
} from './configuration-files.ts';
import {
  NO_SETTINGS,
  type SettingsScopes,
  type SettingsSource,
  settingsSource,
  tooLargeFault,
  unknownIn,
} from './settings-source.ts';
import { readSkills } from './skill-files.ts';

export const MAX_FILE_BYTES = 65_536;
const MAX_CHAIN_FILES = 100;
/** GitHub may leave files out of the list of a push larger than this, so such a one is read anew. */
const MAX_TRUSTED_PATHS = 200;
/** How long an organisation's files are believed without asking again, in milliseconds. */
const ORGANISATION_TTL_MS = 60_000;

export interface BrokenFile {
  file: string;
  /** What cannot be used because of it. */
  kind: 'settings' | 'chain' | 'skill';
  faults: readonly Fault[];
}

/** What governs a repository, read from its base branch, its organisation and what ships. */
export interface Configuration {
  /** The branch of the repository that it was read from, and the commit. */
  branch: string;
  sha: string;
  chains: Chain[];
  settings: Settings;
  names: NamesHere;
  /** All that it was made of: what a change to some of it would come to is told from this. */
  read: {
    chains: Readonly<Record<ChainScope, readonly ParsedChain[]>>;
    settings: SettingsScopes;
  };
  /** The packages in force. */
  skills: readonly SkillInForce[];
  /** Files that cannot be used, with all that is wrong in them. */
  broken: BrokenFile[];
}

export interface Names {
  skills: string[];
  actions: string[];
}

/** What the repository's chains may name: what is built in, and the packages in force. */
export interface NamesHere extends Names {
  /** The skills that no package may take the name of. */
  builtIn: readonly string[];
  /** Packages that no step can run, as they come to nothing. */
  withoutOutcome: readonly string[];
  /** Packages with faults, which are told with those of the chains that name them. */
  broken: readonly string[];
}

interface Scope {
  chains: ChainSource[];
  skills: ParsedPackage[];
  settings: SettingsSource;
}

/**
 * Reads what governs a pull request from the base branch's commit, never from its head (invariant I4). A broken file
 * shadows what it would have replaced: falling back to a wider scope could run a laxer chain than was meant.
 */
export interface ConfigurationLoader {
  /** At a branch's tip; `undefined` when there is no such branch. */
  atBranch(installationId: number, repo: Repo, branch: string): Promise<Configuration | undefined>;
  /** At a commit of a branch of the repository itself, never of a pull request's head. */
  atCommit(
    installationId: number,
    repo: Repo,
    commit: { sha: string; branch: string },
  ): Promise<Configuration>;
  /** Tells that a push changed these files: what is known of the commit before may hold for the one after. */
  pushed(repo: Repo, push: { before: string; after: string; paths: readonly string[] }): void;
}

export function createConfigurationLoader(deps: {
  github: GitHub;
  clock: Clock;
  /** What is built in. */
  names: Names;
  shipped: readonly ParsedChain[];
  shippedSkills: readonly ParsedPackage[];
  /** The packages of indexes that are in force at this moment; none when left out. */
  communitySkills?: () => Promise<readonly ParsedPackage[]>;
  /** Stores a package that a chain in force names, so that a run can begin with it; often, and of few packages. */
  keepSkill(skill: SkillInForce): Promise<void>;
}): ConfigurationLoader {
  const { github, clock, names, shipped, shippedSkills, communitySkills = async () => [] } = deps;
  const repositories = new LRUCache<string, Promise<Scope>>({ max: 500 });
  const organisations = new LRUCache<string, { scope: Promise<Scope>; until: number }>({ max: 100 });
  const tips = new Map<string, Promise<string | undefined>>();
  const texts = new LRUCache<string, Promise<string | undefined>>({ max: 500 });

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
    const folder = root?.find((entry) => entry.type === 'dir' && entry.path === FOLDER);
    const inside = folder ? ((await reader.tree(repo, folder.sha)) ?? []) : [];
    const entries = inside.map((entry) => ({ ...entry, path: `${FOLDER}/${entry.path}` }));
    const settings = root?.find((entry) => entry.type === 'file' && entry.path === SETTINGS_FILE);
    return readScope(reader, repo, entries, settings, { chains: CHAINS_FOLDER, skills: SKILLS_FOLDER }, '');
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
    const settings = tree.find((entry) => entry.type === 'file' && entry.path === SETTINGS_FILE);
    const folders = { chains: ORGANISATION_CHAINS, skills: ORGANISATION_SKILLS };
    return readScope(reader, repo, tree, settings, folders, `${owner}/.github:`);
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
          if (index >= MAX_CHAIN_FILES) return faultyChain(tooMany(file));
          const text = await read(entry);
          return text === undefined ? faultyChain(tooLargeFault(file)) : chainSource(text, file);
        }),
      ),
      readSkills(entries, folders.skills, prefix, read),
    ]);
    if (!settingsFile) return { chains, skills, settings: NO_SETTINGS };
    const file = prefix + settingsFile.path;
    const settings = settingsSource(await read(settingsFile), file);
    return { chains, skills, settings };
  }

  /** What a name of git stands for never changes, in whatever commit it is; a failed read is forgotten. */
  function textOf(reader: GitHubReader, repo: Repo, entry: TreeEntry): Promise<string | undefined> {
    const key = `${repo.owner}/${repo.name}:${entry.sha}`;
    const known = texts.get(key);
    if (known) return known;
    const reading = reader.blob(repo, entry.sha, MAX_FILE_BYTES).then((bytes) => bytes && textOfFile(bytes));
    texts.set(key, reading);
    reading.catch(() => texts.delete(key));
    return reading;
  }

  /** The names of what is built in and of packages, each once. */
  function namesWith({ skills, broken }: ReturnType<typeof resolveSkills>): NamesHere {
    const all = new Set([...names.skills, ...skills.map(({ skill }) => skill.name)]);
    return {
      ...names,
      builtIn: names.skills,
      skills: [...all].sort(),
      withoutOutcome: withoutOutcome(
        skills.map(({ skill }) => skill),
        names.skills,
      ),
      broken: broken.map(({ name }) => name),
    };
  }

  /**
   * The chain with the packages that its steps name, as a run keeps it: their content, by its id, and what they leave behind. Stored
   * before the run is: a package without a run is litter, a run without its package is a loss.
   */
  async function withPackages(chain: Chain, skills: readonly SkillInForce[]): Promise<Chain> {
    const packageOf = ({ uses }: Chain['steps'][number]) =>
      uses.kind === 'skill' && !names.skills.includes(uses.name)
        ? skills.find(({ skill }) => skill.name === uses.name)
        : undefined;
    const candidatesOf = (step: Chain['steps'][number]) =>
      step.uses.kind === 'skill' && step.uses.name === AUTO_SKILL
        ? skills.filter(({ skill }) => !names.skills.includes(skill.name) && comesTo(skill, step))
        : undefined;
    if (!chain.steps.some((step) => packageOf(step) ?? candidatesOf(step))) return chain;
    for (const step of chain.steps) {
      for (const found of [packageOf(step) ?? [], candidatesOf(step) ?? []].flat())
        await deps.keepSkill(found);
    }
    const folded = foldContracts(chain, (step) => {
      const found = packageOf(step);
      return found ? contractOf(found.skill) : [];
    });
    const steps = folded.steps.map((step) => {
      const found = packageOf(step);
      if (found) return { ...step, uses: { ...step.uses, package: referenceTo(found.skill) } };
      const candidates = candidatesOf(step)?.map(({ skill }) => ({
        name: skill.name,
        ...referenceTo(skill),
      }));
      return candidates ? { ...step, uses: { ...step.uses, candidates } } : step;
    });
    return { ...folded, steps };
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
      return sha === undefined ? undefined : atCommit(installationId, repo, { sha, branch });
    },
  };

  async function atCommit(
    installationId: number,
    repo: Repo,
    { sha, branch }: { sha: string; branch: string },
  ): Promise<Configuration> {
    const reader = github.reader(installationId);
    const [repository, organisation, community] = await Promise.all([
      ofRepository(reader, repo, sha),
      ofOrganisation(reader, repo.owner),
      communitySkills(),
    ]);
    const account = { organisation: organisation.skills, shipped: shippedSkills, community };
    const here = resolveSkills({ workspace: repository.skills, ...account }, names.skills);
    const { skills } = here;
    const known = namesWith(here);
    const ofAccount = namesWith(resolveSkills({ workspace: [], ...account }, names.skills));
    const read: Configuration['read'] = {
      chains: {
        repository: repository.chains.map((file) => file.parse(known)),
        organisation: organisation.chains.map((file) => file.parse(ofAccount)),
        shipped,
      },
      settings: { repository: repository.settings, organisation: organisation.settings },
    };
    const resolved = resolveChains(read.chains);
    const [own, above] = [repository.settings.parse(known), organisation.settings.parse(ofAccount)];
    const settings = mergeSettings(above.settings, own.settings);
    const broken: BrokenFile[] = [
      ...resolved.broken.map(({ file, faults }) => ({ file, kind: 'chain' as const, faults })),
      ...here.broken.map(({ folder, faults }) => ({ file: folder, kind: 'skill' as const, faults })),
    ];
    const unknown = unknownIn(read.settings, resolved.names);
    const settingsFaults = [...own.faults, ...above.faults];
    if (settingsFaults.length > 0) {
      // Without its settings it is not known who may countersign: nothing runs until they can be read.
      broken.push({
        file: settingsFaults[0]?.file ?? SETTINGS_FILE,
        kind: 'settings',
        faults: [...settingsFaults, ...unknown],
      });
      return {
        branch,
        sha,
        chains: [],
        settings: defaultSettings,
        names: known,
        read,
        skills,
        broken,
      };
    }
    if (unknown[0]) broken.push({ file: unknown[0].file, kind: 'chain', faults: unknown });
    const inForce = resolved.chains.filter(
      (chain) => settings.chains === undefined || settings.chains.includes(chain.name),
    );
    const chains = await Promise.all(inForce.map((chain) => withPackages(chain, skills)));
    return { branch, sha, chains, settings, names: known, read, skills, broken };
  }
}

/** Whether the package comes to every outcome that the step must leave behind. */
function comesTo({ outcome }: SkillPackage, { artifacts }: Chain['steps'][number]): boolean {
  const asked = (artifacts?.expected ?? []).flatMap((entry) =>
    entry.kind === 'outcome' ? [entry.outcome] : [],
  );
  return outcome !== null && asked.every((kind) => kind === outcome);
}

function tooMany(file: string): Fault {
  const message = `only the first ${MAX_CHAIN_FILES} chain files of a folder are read`;
  return { file, line: 1, column: 1, message };
}
