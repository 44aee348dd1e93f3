import type { Clock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import type { ParsedChain } from '../../domain/chain/scope.ts';
import type { ChainCase } from '../../domain/chain-case/case-file.ts';
import type { Event } from '../../domain/event/event.ts';
import type { OnGitHub, RepositoryFiles } from '../../domain/first-look/seen.ts';
import type { PolicyEngine } from '../../domain/policy/engine.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { Finding } from '../../domain/self-check/finding.ts';
import type { SkillCase } from '../../domain/skill/case-file.ts';
import type { ParsedPackage, SkillPackage } from '../../domain/skill/package.ts';
import type { ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { Registry } from '../../engine/sessions/registry.ts';
import type { StepHandler } from '../../engine/steps/step.ts';
import type { PlayedCase } from '../../messages/cli/chain-test.ts';
import type { DatabaseCopy } from '../../messages/cli/copy.ts';
import type { Played } from '../../messages/cli/dry-run.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { Screen } from '../../messages/text/screen.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { GitHub, Repo } from '../../ports/github.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Model } from '../../ports/model.ts';
import type { Proposal, Proposed } from '../../ports/proposal.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Delivery, ReadTx, Storage } from '../../ports/storage.ts';
import type { PackageTools } from '../../skills/runtime/execute-package.ts';
import type { CaseTools } from '../../skills/testing/run-case.ts';

/** The environment of a command. Tests pass their own. */
export interface Context {
  cwd: string;
  clock: Clock;
  json: boolean;
  tools: Tools;
  /** Writes a part of a long result. Resolves when the stream accepts more. */
  write(text: string): Promise<void>;
  /** Says what the command does meanwhile, apart from its result. */
  progress(line: string): void;
  /** The same on the last line of the terminal, which the next replaces; nothing where errors go to a file or a pipe. */
  status(text: string): void;
  /** Where the result is shown. */
  screen: Screen;
}

/**
 * Everything from outside this folder. Each part is loaded on demand, so that `--help` does not wait for
 * SQLite.
 */
export interface Tools {
  /**
   * Opens the database (`--database`, or else `DATABASE_URL`) and closes it after `work`. Never migrates,
   * because a server of the older version may be running.
   * @throws CountersignError if there is no database, or it belongs to another version of Countersign
   */
  withDatabase<T>(
    url: string | undefined,
    purpose: 'read' | 'write',
    work: (storage: Storage) => Promise<T>,
  ): Promise<T>;
  /** Whether there is a file where `DATABASE_URL` says, or it names a server. */
  hasDatabase(): Promise<boolean>;
  /** @param onBlocked called if the migration has to wait for another session, with who that probably is */
  migrate(url: string | undefined, onBlocked: (by: string) => void): Promise<Migrated>;
  /** Copies a database of any version to a new file, unchanged. */
  backup(
    url: string | undefined,
    file: string,
    onProgress: (copied: number, of: number) => void,
  ): Promise<{ database: string; bytes: number }>;
  /**
   * Copies an SQLite file to an empty database of PostgreSQL, or continues such a copy.
   * @param to `DATABASE_URL` by default
   * @throws CountersignError while an app serves either, or if the copy would not be the same
   */
  copyDatabase(
    from: string,
    to: string | undefined,
    reports: {
      onProgress(stage: 'copying' | 'comparing', done: number, of: number): void;
      onWarning(sentence: string): void;
    },
  ): Promise<DatabaseCopy>;
  /**
   * Rewrites the database file without its free pages.
   * @throws CountersignError while an app serves the database, or if disk space is too low
   */
  vacuum(url: string | undefined): Promise<{ database: string; before: number; after: number }>;
  /**
   * Opens the store of large artifacts that `ARTIFACTS_URL` names.
   * @throws CountersignError for invalid settings or a missing folder. If it created the folder, all blobs
   * would seem lost.
   */
  blobs(): Promise<Blobs>;
  /** The pages on GitHub that reasons link to, as far as the environment names the server. */
  pages(): Promise<Pages>;
  /** A queue that only stores jobs. The running app executes them. */
  enqueuer(storage: Storage): Promise<Pick<Queue, 'enqueue'>>;
  /** The events that a delivery brought, or why it brought none. */
  eventsOf(
    delivery: Delivery,
    own: { appId: number; runs: Pick<ReadTx['runs'], 'get'> },
  ): Promise<{ kind: 'events'; events: Event[] } | { kind: 'ignored' | 'unreadable'; because: string }>;
  /** Returns the job of a delivery, as its arrival would create it. */
  deliveryJobs(): Promise<(delivery: Delivery) => NewJob>;
  chains(): Promise<{
    known: KnownNames;
    shipped: ParsedChain[];
    /**
     * The chain with the default artifacts of its skills, including those of these packages, as a run would
     * start with it.
     */
    foldContracts: (chain: Chain, packages: readonly SkillPackage[]) => Chain;
  }>;
  /**
   * The parts for policy decisions: the app's own registry, policy and GitHub, restricted to reading.
   * @param read the database, for what the operator said about chains and which organisations had settings; without it, nothing counts
   * as said or seen
   * @throws CountersignError if the App's settings are missing or invalid, because GitHub requires them
   */
  policy(read?: Pick<ReadTx, 'chains' | 'cursors'>): Promise<{
    github: Pick<GitHub, 'app' | 'appId' | 'reader'>;
    configuration: ConfigurationLoader;
    useOf: Registry['useOf'];
    policy: PolicyEngine;
  }>;
  /** Whether the environment has a token of a person's for GitHub. */
  hasToken(): boolean;
  /**
   * Plays a chain over pull requests, without writing to GitHub. Without a token, what is public is read.
   * @throws CountersignError for invalid settings
   * @throws GitHubError if the repository or a pull request cannot be read
   */
  dryRun(request: DryRunRequest): Promise<Played[]>;
  /**
   * What GitHub shows of a repository, with the person's token or as to everybody.
   * @param withFiles also the files of its default branch
   * @throws CountersignError for invalid settings
   * @throws GitHubError if the repository cannot be read
   */
  lookAt(repo: Repo, withFiles: boolean): Promise<{ github: OnGitHub; files: RepositoryFiles | undefined }>;
  /**
   * Opens a pull request with the person's token.
   * @throws CountersignError for invalid settings
   * @throws GitHubError if GitHub refuses
   */
  propose(proposal: Proposal): Promise<Proposed>;
  /** The person at the terminal; `undefined` if there is none. */
  person(): Promise<Person | undefined>;
  /**
   * Plays a case of a chain without GitHub.
   * @param files the files of `.github` in the working folder, by path
   */
  chainCase(chain: string, of: ChainCase, files: ReadonlyMap<string, string>): Promise<PlayedCase>;
  /** Waits before the command asks again, until the signal at most. */
  pause(ms: number, until?: AbortSignal): Promise<void>;
  /** Aborts when the process receives SIGTERM or SIGINT, which then no longer end it. */
  stopRequested(): AbortSignal;
  skills(): Promise<KnownSkills>;
  /** The tools to run a case of a skill: no network, and only recorded answers of a model. */
  caseTools(of: SkillCase): Promise<CaseTools>;
  /**
   * The configured model. Its calls count against the app's budgets.
   * @throws CountersignError if no model is configured, or its settings are invalid
   */
  model(storage: Storage): Promise<Model>;
  /**
   * The tools to run skills, with the configured model if there is one. Its calls count against the budgets
   * in the database.
   * @throws CountersignError for invalid settings, or a model without a database
   */
  withSkillRunner<T>(url: string | undefined, work: (runner: SkillRunner) => Promise<T>): Promise<T>;
  /**
   * Checks how the app is set up. Wrong settings are findings, too.
   * @throws UsageError if the settings file cannot be read
   */
  selfCheck(options: DoctorOptions): Promise<Finding[]>;
  /**
   * Resolves once the app listens. The app then runs until the process receives a signal to stop.
   * @throws UsageError if the settings file cannot be read
   */
  serve(options: ServeOptions): Promise<{ ok: true } | { ok: false; code: string; message: string }>;
  /**
   * Resolves once Studio listens on this machine and its link is printed. It then runs until a signal to stop.
   * @throws CountersignError if the port is taken, or there is no database
   */
  studio(options: StudioOptions): Promise<void>;
  /** The words that start this program. */
  ownCommand(): readonly string[];
  /** The path of the demo, if this is a checkout. */
  demoFile(): string | undefined;
}

/** Somebody who answers questions. */
export interface Person {
  /** @returns the line that they typed, or `undefined` if the input ended */
  ask(question: string): Promise<string | undefined>;
  leave(): void;
}

export interface DryRunRequest {
  repo: Repo;
  /** The newest ones, or these; `null` stands for a run without a pull request. */
  pullRequests: { numbers: readonly (number | null)[] } | { last: number };
  /** By name, with the files of chains that join the repository's or replace them: its own, and of those that its steps run. */
  chain: { name: string; files?: readonly { name: string; text: string }[] };
  /** Fired by hand, whatever the chain's trigger. */
  fire?: { actor: string; inputs: Readonly<Record<string, string | number | boolean>> };
  /** Called again and again while runs proceed. */
  onProgress(state: RunState): void;
}

export interface KnownSkills {
  /** Names that no package may have. */
  builtIn: string[];
  shipped: readonly ParsedPackage[];
}

export interface SkillRunner extends PackageTools {
  builtIn: readonly StepHandler[];
}

/** Versions are numbers of migrations; 0 means that there was no database. */
export interface Migrated {
  database: string;
  from: number;
  to: number;
  /** The executed files, in order. */
  applied: string[];
}

/** The result of a command: the same facts as text and as JSON. */
export interface Output {
  /** As it is shown in a pipe, or on a given screen. */
  text: string | ((screen: Screen) => string);
  json: unknown;
  /** The command worked and its result is negative, such as errors in the checked files. */
  failed?: boolean;
}

/** `ran`: another program wrote the output itself. */
export type Result = Output | { ran: true; failed: boolean };

/** Wrong usage of the command, with exit status 2 instead of 1. */
export class UsageError extends CountersignError {
  constructor(message: string) {
    super('cli.misuse', message);
  }
}

export interface DatabaseOption {
  database?: string;
}

export interface ServeOptions extends DatabaseOption {
  /** A file with more settings. The environment takes precedence. */
  settings?: string;
}

export interface DoctorOptions extends Pick<ServeOptions, 'settings'> {
  /** `owner/name` */
  repo?: string;
}

export interface StudioOptions extends DatabaseOption {
  port: number;
}

/** Runs a command in its environment and writes its result. */
export type Perform = (work: (context: Context) => Promise<Result>) => Promise<void>;
