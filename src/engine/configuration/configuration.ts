import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { foldContracts } from '../../domain/artifact/contract.ts';
import { AUTO_SKILL, type Chain } from '../../domain/chain/chain.ts';
import { SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { levelFor } from '../../domain/chain/rollout-setting.ts';
import {
  type Scope as ChainScope,
  isChosen,
  type ParsedChain,
  resolveChains,
} from '../../domain/chain/scope.ts';
import { defaultSettings, mergeSettings, type Settings } from '../../domain/chain/settings.ts';
import { type HeldChain, heldIn, type StoredChain } from '../../domain/chain/stored.ts';
import { openToWriters } from '../../domain/policy/branch-guard.ts';
import { withOwner } from '../../domain/policy/countersign-rules.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { FULL_ROLLOUT, isLower, type Rollout, type RolloutLevel } from '../../domain/policy/rollout.ts';
import { isTrusted } from '../../domain/policy/trust.ts';
import {
  contractOf,
  outcomeDataOf,
  outcomesOf,
  type ParsedPackage,
  referenceTo,
  type SkillPackage,
  usedBy,
  withoutOutcome,
} from '../../domain/skill/package.ts';
import { resolveSkills, type SkillInForce } from '../../domain/skill/scope.ts';
import type { GitHub, GitHubReader, PullRequest, Repo, Urgency } from '../../ports/github.ts';
import { NO_MEMORY, type OrganisationMemory } from './organisation-memory.ts';
import { type ChainSource, chainSource, createScopeFiles, type Scope } from './scope-files.ts';
import { type SettingsScopes, unknownIn } from './settings-source.ts';

interface BrokenFile {
  file: string;
  /** GitHub does not show the file, so nothing in the repository can fix it. */
  outOfSight?: true;
  /** What cannot be used because of it. */
  kind: 'settings' | 'chain' | 'skill';
  /** The chain that does not run because of it; absent if that is none or not one alone. */
  chain?: string;
  diagnostics: readonly Diagnostic[];
}

/** The configuration of a repository: from its governing branch, its organisation, and what ships. */
export interface Configuration {
  /** The branch and commit that it was read from. */
  branch: string;
  sha: string;
  /** The base of the pull request, if that does not govern itself. */
  insteadOf?: { base: string; because: string };
  chains: Chain[];
  settings: Settings;
  names: Required<KnownNames>;
  /** All sources. The effect of a change to some of them is computed from these. */
  read: {
    chains: Readonly<Record<ChainScope, readonly ParsedChain[]>>;
    settings: SettingsScopes;
  };
  /** The packages in force. */
  skills: readonly SkillInForce[];
  /** Files that cannot be used, with their errors. */
  broken: BrokenFile[];
  /** Chains that the operator paused, which are in `chains`, or disabled, which are not. */
  held?: readonly HeldChain[];
  /** While it is off, `chains` is empty. */
  rollout: Rollout;
}

/** The base of a pull request, and the default branch, which governs otherwise. */
export type Base = Pick<PullRequest, 'baseRef' | 'defaultBranch'>;

export interface HowFresh {
  /** Ignores cached answers of GitHub. Required for decisions about merges. */
  fresh?: boolean;
  /** Knows the tips of branches already. */
  reader?: GitHubReader;
}

/**
 * Reads the configuration from a commit of the base branch, never from the pull request's head (I4). A broken
 * file shadows the one that it would replace: falling back to a wider scope could run a laxer chain than
 * intended.
 */
export interface ConfigurationLoader {
  /**
   * The configuration for a pull request: the files of its base if that is the default branch or protected,
   * otherwise those of the default branch. A branch that anybody with write access can create or push to
   * would let them choose their own maintainers. `undefined` if the base does not exist.
   */
  forPullRequest(
    installationId: number,
    repo: Repo,
    base: Base,
    how?: HowFresh,
  ): Promise<Configuration | undefined>;
  /** At a branch's tip; `undefined` if the branch does not exist. */
  atBranch(
    installationId: number,
    repo: Repo,
    branch: string,
    how?: HowFresh,
  ): Promise<Configuration | undefined>;
  /** At a commit of a branch of the repository itself, never of a pull request's head. */
  atCommit(
    installationId: number,
    repo: Repo,
    commit: { sha: string; branch: string },
  ): Promise<Configuration>;
  /**
   * Reports that a push changed these files, so that the cache for the commit before can be reused for the
   * commit after.
   */
  pushed(repo: Repo, push: { before: string; after: string; paths: readonly string[] }): void;
  /** Reports a push to an organisation's own repository. */
  organisationPushed(owner: string): void;
  /** The rollout in a repository now, as its organisation and this server say it. No branch and no head can change it. */
  rolloutOf(installationId: number, repo: Repo, how?: { urgency?: Urgency }): Promise<Rollout>;
}

export function createConfigurationLoader(deps: {
  github: GitHub;
  clock: Clock;
  /** Names of built-in skills and actions. */
  names: KnownNames;
  shipped: readonly ParsedChain[];
  shippedSkills: readonly ParsedPackage[];
  /** Which organisations had configuration; without it, none counts as having had any. */
  memory?: OrganisationMemory;
  /** What the operator says about the chains of a repository; nothing by default. */
  storedChains?: (repo: Repo) => Promise<readonly StoredChain[]>;
  /** The packages of indexes that are in force now; none by default. */
  communitySkills?: () => Promise<readonly ParsedPackage[]>;
  /** The most that this server rolls out anywhere; `ignored` for what writes nothing. */
  rollout?: RolloutLevel | 'ignored';
  /** The only chain that events and times start, as if the settings named it. The others run only as its steps. */
  only?: string;
  /**
   * Stores a package that a chain in force names, so that a run can start with it. Called often, for few
   * packages.
   */
  keepSkill(skill: SkillInForce): Promise<void>;
}): ConfigurationLoader {
  const {
    github,
    clock,
    names,
    shipped,
    shippedSkills,
    communitySkills = async () => [],
    storedChains = async () => [],
    memory = NO_MEMORY,
    rollout: most = 'enforce',
    only,
  } = deps;
  const files = createScopeFiles({ clock, memory });
  const definitions = new WeakMap<StoredChain, ChainSource>();
  const tips = new Map<string, Promise<string | undefined>>();
  const resolvedFrom = new LRUCache<Scope, { from: Sources; resolved: Resolved }>({
    max: MAX_RESOLVED,
    maxSize: MAX_COPIED_CHAINS,
    sizeCalculation: ({ resolved }) => 1 + resolved.copied,
  });

  /** Parsed once for each row, as the files are. */
  function storedSource(row: StoredChain): ChainSource | undefined {
    if (row.definition === null) return undefined;
    const source = definitions.get(row) ?? chainSource(row.definition, `chain define ${row.name}`);
    definitions.set(row, source);
    return source;
  }

  /** Simultaneous events, such as a push and its pull request, share one read of the tip. */
  function tipOf(reader: GitHubReader, repo: Repo, branch: string): Promise<string | undefined> {
    const key = `${repo.owner}/${repo.name}:${branch}`;
    const reading = tips.get(key) ?? reader.branchTip(repo, branch).finally(() => tips.delete(key));
    tips.set(key, reading);
    return reading;
  }

  /** The names of built-in skills and of packages, without duplicates. */
  function namesWith({ skills, broken }: ReturnType<typeof resolveSkills>): Required<KnownNames> {
    const all = new Set([...names.skills, ...skills.map(({ skill }) => skill.name)]);
    return {
      ...names,
      inputOf: names.inputOf ?? (() => undefined),
      builtIn: names.skills,
      skills: [...all].sort(),
      outcomes: { ...outcomesOf(skills.map(({ skill }) => skill)), ...names.outcomes },
      outcomeData: outcomeDataOf(skills.map(({ skill }) => skill)),
      withoutOutcome: withoutOutcome(
        skills.map(({ skill }) => skill),
        names.skills,
      ),
      broken: broken.map(({ name }) => name),
    };
  }

  /**
   * The chain with the packages that its steps name, as a run stores it: content ids and default artifacts.
   * @param kept gets the packages that must be stored before such a run
   */
  function withPackages(
    chain: Chain,
    skills: readonly SkillInForce[],
    { leastTrust = 'sandbox', gates }: Pick<Settings, 'leastTrust' | 'gates'>,
    ofAccount: readonly SkillInForce[],
    kept: Set<SkillInForce>,
  ): Chain {
    const callable = skills.map(({ skill }) => skill).filter(({ name }) => !names.skills.includes(name));
    const usedIn = (skill: SkillPackage) => usedBy(skill, callable);
    const leastReference = (skill: SkillPackage, used: readonly SkillPackage[]) => {
      const found = referenceTo(skill, used);
      return isTrusted(found.trust, leastTrust) ? found : { ...found, trust: leastTrust };
    };
    const reference = (skill: SkillPackage) => leastReference(skill, usedIn(skill));
    const packageOf = ({ uses }: Chain['steps'][number]) =>
      uses.kind === 'skill' && !names.skills.includes(uses.name)
        ? skills.find(({ skill }) => skill.name === uses.name)
        : undefined;
    const candidatesOf = (step: Chain['steps'][number]) =>
      step.uses.kind === 'skill' && step.uses.name === AUTO_SKILL
        ? skills.filter(({ skill }) => !names.skills.includes(skill.name) && producesAll(skill, step))
        : undefined;
    const ofGates = (step: Chain['steps'][number]) => {
      const { pre, post } = gatesOfStep(step, gates);
      return [...pre, ...post].flatMap(({ gate, scope }) => {
        if (gate.kind !== 'skill' || names.skills.includes(gate.skill)) return [];
        // A repository's package must not replace the one that its organisation's gate asks.
        const known = scope === 'organisation' ? ofAccount : skills;
        const found = known.find(({ skill }) => skill.name === gate.skill);
        return found ? [{ found, scope }] : [];
      });
    };
    const isPlain = (step: Chain['steps'][number]) =>
      !packageOf(step) && !candidatesOf(step) && ofGates(step).length === 0;
    if (chain.steps.every(isPlain)) return chain;
    for (const step of chain.steps) {
      for (const found of [packageOf(step) ?? [], candidatesOf(step) ?? []].flat()) {
        const used = new Set(usedIn(found.skill));
        kept.add(found);
        for (const other of skills.filter(({ skill }) => used.has(skill))) kept.add(other);
      }
      for (const { found } of ofGates(step)) kept.add(found);
    }
    const folded = foldContracts(chain, (step) => {
      const found = packageOf(step);
      return found ? contractOf(found.skill) : [];
    });
    const steps = folded.steps.map((written) => {
      const gatePackages = ofGates(written).map(({ found: { skill }, scope }) => ({
        // A gate's package runs no other skills: those could come from a nearer scope than the gate.
        ...leastReference(skill, []),
        name: skill.name,
        scope,
      }));
      const step = gatePackages.length === 0 ? written : { ...written, gatePackages };
      const found = packageOf(step);
      if (found) return { ...step, uses: { ...step.uses, package: reference(found.skill) } };
      const candidates = candidatesOf(step)?.map(({ skill }) => ({
        name: skill.name,
        ...reference(skill),
      }));
      return candidates ? { ...step, uses: { ...step.uses, candidates } } : step;
    });
    return { ...folded, steps };
  }

  return {
    atCommit: (installationId, repo, commit) => read(installationId, repo, commit, {}),
    pushed: files.pushed,
    organisationPushed: files.organisationPushed,
    rolloutOf: (installationId, repo, { urgency } = {}) =>
      rolloutOf(github.reader(installationId, urgency), repo),
    atBranch,
    async forPullRequest(installationId, repo, { baseRef, defaultBranch }, how = {}) {
      if (baseRef === defaultBranch) return atBranch(installationId, repo, baseRef, how);
      const reader = readerFor(installationId, how);
      const [sha, rules] = await Promise.all([
        tipNow(reader, repo, baseRef, how),
        reader.branchRules(repo, baseRef),
      ]);
      if (sha === undefined) return undefined;
      const because = openToWriters(rules);
      if (because === undefined) return read(installationId, repo, { sha, branch: baseRef }, how);
      const governing = await atBranch(installationId, repo, defaultBranch, how);
      return governing && { ...governing, insteadOf: { base: baseRef, because } };
    },
  };

  /** Fresh reads are for a merge, for which a person is waiting. */
  function readerFor(installationId: number, { fresh = false, reader }: HowFresh): GitHubReader {
    return reader ?? github.reader(installationId, fresh ? 'person' : 'run');
  }

  function tipNow(
    reader: GitHubReader,
    repo: Repo,
    branch: string,
    { fresh = false, reader: known }: HowFresh,
  ) {
    return fresh || known ? reader.branchTip(repo, branch) : tipOf(reader, repo, branch);
  }

  async function atBranch(
    installationId: number,
    repo: Repo,
    branch: string,
    how: HowFresh = {},
  ): Promise<Configuration | undefined> {
    const sha = await tipNow(readerFor(installationId, how), repo, branch, how);
    return sha === undefined ? undefined : read(installationId, repo, { sha, branch }, how);
  }

  async function read(
    installationId: number,
    repo: Repo,
    { sha, branch }: { sha: string; branch: string },
    how: HowFresh,
  ): Promise<Configuration> {
    const reader = readerFor(installationId, how);
    const [repository, organisation, community, stored] = await Promise.all([
      files.ofRepository(reader, repo, sha),
      files.ofOrganisation(reader, repo.owner, how.fresh ?? false),
      communitySkills(),
      storedChains(repo),
    ]);
    const { configuration, kept } = resolve({
      owner: repo.owner,
      repository,
      organisation,
      community,
      stored,
    });
    // The organisation's files were read just now.
    const rollout = await rolloutOf(reader, repo);
    if (rollout.level === 'off') return { branch, sha, ...configuration, chains: [], rollout };
    // An orphaned package does no harm, but a run needs its packages.
    for (const skill of kept) await deps.keepSkill(skill);
    return { branch, sha, ...configuration, rollout };
  }

  async function rolloutOf(reader: GitHubReader, { owner, name }: Repo): Promise<Rollout> {
    if (most === 'ignored') return FULL_ROLLOUT;
    // Nothing that the organisation says changes anything.
    if (most === 'off') return { level: most, by: 'server' };
    const setting = await files.rolloutOf(reader, owner);
    if (setting === 'unreadable') return { level: 'observe', by: 'unreadable' };
    const level = levelFor(setting, name);
    if (isLower(most, level)) return { level: most, by: 'server' };
    return level === 'enforce' ? FULL_ROLLOUT : { level, by: 'organisation' };
  }

  /** Resolved once from the same sources, because every event asks again and a repository can have thousands of chains. */
  function resolve(sources: Sources): Resolved {
    const known = resolvedFrom.get(sources.repository);
    if (known && isSame(known.from, sources)) return known.resolved;
    const resolved = resolveNow(sources);
    resolvedFrom.set(sources.repository, { from: sources, resolved });
    return resolved;
  }

  function resolveNow({ owner, repository, organisation, community, stored }: Sources): Resolved {
    const account = { organisation: organisation.skills, shipped: shippedSkills, community };
    const here = resolveSkills({ workspace: repository.skills, ...account }, names.skills);
    const { skills } = here;
    const known = namesWith(here);
    const inAccount = resolveSkills({ workspace: [], ...account }, names.skills);
    const ofAccount = namesWith(inAccount);
    const sources: Configuration['read'] = {
      chains: {
        repository: repository.chains.map((file) => file.parse(known)),
        organisation: organisation.chains.map((file) => file.parse(ofAccount)),
        stored: stored.flatMap((row) => storedSource(row)?.parse(known) ?? []),
        shipped,
      },
      settings: { repository: repository.settings, organisation: organisation.settings },
    };
    const resolved = resolveChains(sources.chains);
    const [own, above] = [repository.settings.parse(known), organisation.settings.parse(ofAccount)];
    const settings = mergeSettings(above.settings, own.settings);
    const broken: BrokenFile[] = [
      ...resolved.broken.map(({ file, chain, diagnostics }) => ({
        file,
        kind: 'chain' as const,
        chain,
        diagnostics,
      })),
      ...here.broken.map(({ folder, diagnostics }) => ({
        file: folder,
        kind: 'skill' as const,
        diagnostics,
      })),
    ];
    const unknown = unknownIn(sources.settings, resolved.names);
    const settingsDiagnostics = [...own.diagnostics, ...above.diagnostics];
    if (settingsDiagnostics.length > 0) {
      // Without valid settings it is unknown who may countersign, so nothing runs.
      broken.push({
        file: settingsDiagnostics[0]?.file ?? SETTINGS_FILE,
        kind: 'settings',
        ...(organisation.outOfSight ? { outOfSight: true } : {}),
        diagnostics: [...settingsDiagnostics, ...unknown],
      });
      const nothing = { chains: [], settings: defaultSettings };
      const configuration = { ...nothing, names: known, read: sources, skills, broken };
      return { configuration, kept: new Set(), copied: 0 };
    }
    if (unknown[0]) broken.push({ file: unknown[0].file, kind: 'chain', diagnostics: unknown });
    const held = heldIn(stored);
    const disabled = held.filter(({ status }) => status === 'disabled').map(({ name }) => name);
    const inForce = resolved.chains.filter(
      ({ name }) =>
        (name === only || isChosen(name, settings, resolved.onlyIfNamed)) && !disabled.includes(name),
    );
    const kept = new Set<SkillInForce>();
    const chains = inForce
      .map((chain) => (only === undefined || chain.name === only ? chain : { ...chain, ...NEVER_BY_ITSELF }))
      .map((chain) => withPackages(withTeams(chain, owner), skills, settings, inAccount.skills, kept));
    const copied = chains.filter((chain, index) => chain !== inForce[index]).length;
    const configuration = { chains, settings, names: known, read: sources, skills, broken, held };
    return { configuration, kept, copied };
  }
}

/** What a configuration is made of, apart from what is the same for all. */
interface Sources {
  owner: string;
  repository: Scope;
  organisation: Scope;
  community: readonly ParsedPackage[];
  stored: readonly StoredChain[];
}

interface Resolved {
  configuration: Omit<Configuration, 'branch' | 'sha' | 'insteadOf' | 'rollout'>;
  /** The packages that runs of its chains need. */
  kept: ReadonlySet<SkillInForce>;
  /** How many chains are copies of their own, and not the parsed files that all share. */
  copied: number;
}

/** How many configurations are kept, and how many chains of their own they have together. */
const MAX_RESOLVED = 500;
const MAX_COPIED_CHAINS = 20_000;

function isSame(one: Sources, other: Sources): boolean {
  return (
    one.owner === other.owner &&
    one.repository === other.repository &&
    one.organisation === other.organisation &&
    one.community === other.community &&
    one.stored === other.stored
  );
}

const NEVER_BY_ITSELF = { trigger: { event: 'manual.fired', filter: {} } } satisfies Partial<Chain>;

function withTeams(chain: Chain, owner: string): Chain {
  if (!chain.steps.some(({ approval }) => approval?.teams)) return chain;
  const steps = chain.steps.map((step) =>
    step.approval?.teams ? { ...step, approval: withOwner(step.approval, owner) } : step,
  );
  return { ...chain, steps };
}

/** Whether the package produces every outcome that the step requires. */
function producesAll({ outcome }: SkillPackage, { artifacts }: Chain['steps'][number]): boolean {
  const asked = (artifacts?.expected ?? []).flatMap((entry) =>
    entry.kind === 'outcome' ? [entry.outcome] : [],
  );
  return outcome !== null && asked.every((kind) => kind === outcome);
}
