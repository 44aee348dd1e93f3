import { generateKeyPairSync } from 'node:crypto';
import { type Commit, type FileInput, GitObjects, type Signature } from './git/objects.ts';
import type { MergeRecord, MergeRequest, PullRequestState } from './merge-record.ts';
import type { Webhooks } from './webhooks.ts';
import type {
  Account,
  App,
  CheckRun,
  Comment,
  Installation,
  Issue,
  Label,
  MergeMethod,
  Permissions,
  PullRequest,
  Repository,
  Role,
} from './world.ts';
import { fullName, isPullRequest } from './world.ts';

/** First id of each kind. Comments and checks start above 2³¹, as on GitHub, so that 32-bit columns fail. */
const FIRST_ID = {
  account: 1_001,
  app: 9_001,
  installation: 51_000_001,
  repository: 700_001,
  issue: 2_900_000_001,
  comment: 3_100_000_001,
  reaction: 310_000_001,
  review: 2_500_000_001,
  label: 8_000_000_001,
  milestone: 9_000_001,
  checkSuite: 41_000_000_001,
  checkRun: 52_000_000_001,
  status: 33_000_000_001,
  ruleset: 1_400_001,
  queueEntry: 20_000_001,
} as const;
export type IdKind = keyof typeof FIRST_ID;

export interface RepositoryInput {
  owner: string;
  name: string;
  /** `main` by default. */
  defaultBranch?: string;
  private?: boolean;
  files: Record<string, FileInput>;
  collaborators?: Record<string, Role>;
  /** Merge methods that the repository allows; all by default. */
  mergeMethods?: readonly MergeMethod[];
}

/** Everything that the stand-in knows, with the look-ups that routes, operations and readers share. */
export class State {
  /** Where the API listens; set once the server does. */
  url = '';
  readonly now: () => Date;
  readonly app: App;
  readonly webhooks: Webhooks;
  /** Whether `mergeable` is `null` on the first read after a change, as on GitHub, where a job computes it. */
  readonly lazyMergeability: boolean;
  /** Whether comments name the app that wrote them. The field is optional, and some servers do not have it. */
  commentsNameApps = true;
  readonly installations = new Map<number, Installation>();
  readonly merges: MergeRecord[] = [];
  readonly mergeRequests: MergeRequest[] = [];
  /** Those with auto-merge on: GitHub merges them once everything that is required is satisfied. */
  readonly autoMerging = new Set<PullRequest>();
  /** Repositories with a pull request in a merge queue. */
  readonly queueing = new Set<Repository>();
  /** Each pull request as the API last reported it. */
  readonly lastReported = new Map<PullRequest, PullRequestState>();
  /** Commits whose signature GitHub verifies. */
  readonly verified = new Set<string>();
  readonly #accounts = new Map<string, Account>();
  readonly #apps = new Map<string, App>();
  readonly #teams = new Map<string, Set<number>>();
  readonly #teamsOutside = new Set<string>();
  readonly #repositories = new Map<number, Repository>();
  /** Former full names, in lower case. */
  readonly #formerNames = new Map<string, Repository>();
  readonly #lastIds = new Map<IdKind, number>();

  constructor(options: {
    now: () => Date;
    webhooks: Webhooks;
    appName: string;
    permissions: Permissions;
    lazyMergeability: boolean;
  }) {
    this.now = options.now;
    this.webhooks = options.webhooks;
    this.lazyMergeability = options.lazyMergeability;
    this.app = this.addApp(options.appName, options.permissions);
  }

  nextId(kind: IdKind): number {
    const id = (this.#lastIds.get(kind) ?? FIRST_ID[kind] - 1) + 1;
    this.#lastIds.set(kind, id);
    return id;
  }

  // Accounts, teams and apps

  findAccount(login: string): Account | undefined {
    return this.#accounts.get(login.toLowerCase());
  }

  /** The account. An unknown person is created, so that scenarios stay short. */
  account(login: string, type: Account['type'] = 'User'): Account {
    const known = this.findAccount(login);
    if (known) return known;
    const account: Account = { id: this.nextId('account'), login, type, createdAt: this.now() };
    this.#accounts.set(login.toLowerCase(), account);
    return account;
  }

  accountById(id: number): Account | undefined {
    return [...this.#accounts.values()].find((account) => account.id === id);
  }

  accountByEmail(email: string): Account | undefined {
    return [...this.#accounts.values()].find((account) => account.email === email.toLowerCase());
  }

  addTeam(org: string, slug: string, members: readonly string[], { outside = false } = {}): void {
    this.account(org, 'Organization');
    if (outside) this.#teamsOutside.add(teamKey(org, slug));
    this.#teams.set(teamKey(org, slug), new Set(members.map((login) => this.account(login).id)));
  }

  /** Whether the team has no access to the organisation's repositories. */
  isTeamOutside(org: string, slug: string): boolean {
    return this.#teamsOutside.has(teamKey(org, slug));
  }

  team(org: string, slug: string): ReadonlySet<number> | undefined {
    return this.#teams.get(teamKey(org, slug));
  }

  isMember(org: Account, account: Account): boolean {
    return [...this.#teams].some(
      ([key, members]) => key.startsWith(`${org.login.toLowerCase()}/`) && members.has(account.id),
    );
  }

  /** The app with this name, created on first use; its slug is the name in lower case with dashes. */
  addApp(name: string, permissions: Permissions = { checks: 'write', metadata: 'read' }): App {
    const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const known = this.#apps.get(slug);
    if (known) return known;
    const app: App = {
      id: this.nextId('app'),
      slug,
      name,
      owner: this.account('app-owner', 'Organization'),
      bot: this.account(`${slug}[bot]`, 'Bot'),
      permissions,
      createdAt: this.now(),
    };
    this.#apps.set(slug, app);
    return app;
  }

  appOfBot(account: Account): App | undefined {
    return [...this.#apps.values()].find((app) => app.bot === account);
  }

  // Repositories

  addRepository(input: RepositoryInput, parent?: Repository): Repository {
    if (this.findRepository(input.owner, input.name))
      throw new Error(`There is already a repository ${input.owner}/${input.name}.`);
    const owner = this.account(input.owner);
    const now = this.now();
    const repository: Repository = {
      id: this.nextId('repository'),
      owner,
      name: input.name,
      private: input.private ?? false,
      defaultBranch: input.defaultBranch ?? 'main',
      mergeMethods: new Set(input.mergeMethods ?? (['merge', 'squash', 'rebase'] as const)),
      autoMergeAllowed: false,
      git: parent?.git ?? new GitObjects(),
      branches: new Map(parent?.branches),
      collaborators: new Map(),
      protections: new Map(),
      rulesets: [],
      queues: new Map(),
      labels: new Map(),
      milestones: [],
      issues: new Map(),
      checkSuites: [],
      statuses: [],
      activity: [],
      tags: new Map(),
      releases: [],
      startedWorkflows: [],
      workflowArtifacts: [],
      parent,
      createdAt: now,
      pushedAt: now,
      updatedAt: now,
    };
    for (const [login, role] of Object.entries(input.collaborators ?? {}))
      repository.collaborators.set(this.account(login).id, role);
    if (!parent) {
      const author = this.signature(owner);
      const { sha } = repository.git.writeCommit({
        parents: [],
        author,
        committer: author,
        message: 'Initial commit',
        files: repository.git.writeFiles(new Map(), input.files),
      });
      repository.branches.set(repository.defaultBranch, sha);
    }
    this.#repositories.set(repository.id, repository);
    return repository;
  }

  findRepository(owner: string, name: string): Repository | undefined {
    const wanted = `${owner}/${name}`.toLowerCase();
    return [...this.#repositories.values()].find((known) => fullName(known).toLowerCase() === wanted);
  }

  /** The repository that once had this name and now has another. */
  findMoved(owner: string, name: string): Repository | undefined {
    const moved = this.#formerNames.get(`${owner}/${name}`.toLowerCase());
    return moved && this.#repositories.has(moved.id) ? moved : undefined;
  }

  repositoryById(id: number): Repository | undefined {
    return this.#repositories.get(id);
  }

  /** The repository of `owner/name`, which the caller knows to exist. */
  repository(name: string): Repository {
    const [owner = '', short = ''] = name.split('/');
    const repository = this.findRepository(owner, short);
    if (!repository) throw new Error(`The stand-in has no repository ${name}.`);
    return repository;
  }

  repositories(): Repository[] {
    return [...this.#repositories.values()];
  }

  rename(repository: Repository, name: string): void {
    this.#formerNames.set(fullName(repository).toLowerCase(), repository);
    repository.name = name;
    this.#formerNames.delete(fullName(repository).toLowerCase());
  }

  remove(repository: Repository): void {
    this.#repositories.delete(repository.id);
  }

  label(repository: Repository, name: string): Label {
    const known = repository.labels.get(name.toLowerCase());
    if (known) return known;
    const label: Label = { id: this.nextId('label'), name, color: 'ededed' };
    repository.labels.set(name.toLowerCase(), label);
    return label;
  }

  installationOf(repository: Repository): Installation | undefined {
    return [...this.installations.values()].find((installation) => this.covers(installation, repository));
  }

  covers(installation: Installation, repository: Repository): boolean {
    return installation.account === repository.owner && (installation.selected?.has(repository.id) ?? true);
  }

  roleOf(repository: Repository, account: Account): Role | undefined {
    return repository.owner === account ? 'admin' : repository.collaborators.get(account.id);
  }

  // Inside a repository

  /** The pull request, which the caller knows to exist. */
  pullRequest(repository: Repository, number: number): PullRequest {
    const issue = repository.issues.get(number);
    if (!issue || !isPullRequest(issue))
      throw new Error(`${fullName(repository)} has no pull request #${number}.`);
    return issue;
  }

  issue(repository: Repository, number: number): Issue {
    const issue = repository.issues.get(number);
    if (!issue) throw new Error(`${fullName(repository)} has no issue or pull request #${number}.`);
    return issue;
  }

  findComment(repository: Repository, id: number): Comment | undefined {
    return [...repository.issues.values()]
      .flatMap((issue) => issue.comments)
      .find((comment) => comment.id === id);
  }

  findCheckRun(repository: Repository, id: number): CheckRun | undefined {
    return repository.checkSuites.flatMap((suite) => suite.runs).find((run) => run.id === id);
  }

  pullRequests(): PullRequest[] {
    return this.repositories().flatMap((repository) => [...repository.issues.values()].filter(isPullRequest));
  }

  /**
   * A branch, ref (`heads/x`, `refs/heads/x`), commit name, or `HEAD` for the default branch, as in the API's `ref` parameters.
   * `HEAD` always means git's own, whatever branches are called: https://github.com/scripting/Scripting-News/issues/94
   */
  resolve(repository: Repository, ref: string): Commit | undefined {
    if (ref === 'HEAD') return this.resolve(repository, `refs/heads/${repository.defaultBranch}`);
    const branch = ref.replace(/^(refs\/)?heads\//, '');
    const sha = repository.branches.get(ref) ?? repository.branches.get(branch);
    if (sha !== undefined) return repository.git.commit(sha);
    const pull = /^refs\/pull\/(\d+)\/head$/.exec(ref);
    if (pull) {
      const issue = repository.issues.get(Number(pull[1]));
      return issue?.pull && repository.git.commit(issue.pull.head.sha);
    }
    return repository.git.commitByPrefix(ref);
  }

  signature(account: Account): Signature {
    return { name: account.login, email: emailOf(account), date: this.now() };
  }
}

export function emailOf(account: Account): string {
  return `${account.id}+${account.login}@users.noreply.github.com`;
}

function teamKey(org: string, slug: string): string {
  return `${org}/${slug}`.toLowerCase();
}

let keys: { publicKey: string; privateKey: string } | undefined;

/**
 * The app's key pair, made once per process. 1,024 bits are too few in production and enough here: 2,048 would take up to half a
 * second, and a key in the repository would alert every secret scanner. PKCS #1, as on GitHub.
 */
export function appKeys(): { publicKey: string; privateKey: string } {
  keys ??= generateKeyPairSync('rsa', {
    modulusLength: 1_024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return keys;
}
