import type { Clock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import type { ParsedChain } from '../../domain/chain/scope.ts';
import type { PolicyEngine } from '../../domain/policy/engine.ts';
import type { SkillCase } from '../../domain/skill/case-file.ts';
import type { ParsedPackage, SkillPackage } from '../../domain/skill/package.ts';
import type { ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { Registry } from '../../engine/sessions/registry.ts';
import type { StepHandler } from '../../engine/steps/step.ts';
import type { Pages } from '../../messages/evidence.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { GitHub } from '../../ports/github.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Model } from '../../ports/model.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Delivery, Storage } from '../../ports/storage.ts';
import type { ActivationDeps } from '../../skills/runtime/activate.ts';
import type { CaseTools } from '../../skills/testing/run-case.ts';

/** Where a command runs and what it is given to work with; tests put in their own. */
export interface Context {
  cwd: string;
  clock: Clock;
  json: boolean;
  tools: Tools;
  /** Writes a part of a long answer, and resolves when there is room for more. */
  write(text: string): Promise<void>;
}

/** What lies outside this room. Each is loaded when a command asks for it, so that `--help` does not wait for SQLite. */
export interface Tools {
  /**
   * Opens the database (`--database`, or else `DATABASE_URL`), and closes it after `work`. Never migrates: beneath a
   * running server that would be the command line's doing what an upgrade should.
   * @throws CountersignError when there is none, or it is of another version of Countersign.
   */
  withDatabase<T>(
    url: string | undefined,
    purpose: 'read' | 'write',
    work: (storage: Storage) => Promise<T>,
  ): Promise<T>;
  migrate(url: string | undefined): Promise<Migrated>;
  /** Copies the database as it is, of whatever version, to a new file. */
  backup(url: string | undefined, file: string): Promise<{ database: string; bytes: number }>;
  /**
   * Writes the file anew without its free pages.
   * @throws CountersignError while an app serves the database, and when there is too little room.
   */
  vacuum(url: string | undefined): Promise<{ database: string; before: number; after: number }>;
  /**
   * Opens the store of large artifacts that `ARTIFACTS_URL` names.
   * @throws CountersignError for bad settings, and for a folder that is not there: an empty one in its place would look as if
   * every blob were lost.
   */
  blobs(): Promise<Blobs>;
  /** Where what a reason points to can be looked at, as far as the surroundings say it. */
  pages(): Pages;
  /** A queue that only takes work in: the running app does it. */
  enqueuer(storage: Storage): Promise<Pick<Queue, 'enqueue'>>;
  /** Gives the job that a delivery has when it comes. */
  deliveryJobs(): Promise<(delivery: Delivery) => NewJob>;
  chains(): Promise<{
    known: KnownNames;
    shipped: ParsedChain[];
    /** The chain with what its skills, these packages among them, usually leave behind, as a run would begin with it. */
    foldContracts: (chain: Chain, packages: readonly SkillPackage[]) => Chain;
  }>;
  /**
   * What the policy is asked with: the same registry, engine and GitHub as the app's, but for reading only.
   * @throws CountersignError when the App's settings are missing or wrong: nothing can be read of GitHub without them.
   */
  policy(): Promise<{
    github: Pick<GitHub, 'reader'>;
    configuration: Pick<ConfigurationLoader, 'forPullRequest'>;
    useOf: Registry['useOf'];
    policy: PolicyEngine;
  }>;
  skills(): Promise<KnownSkills>;
  /** What carries out one of a skill's cases: no network, and a model only as far as it was recorded. */
  caseTools(of: SkillCase): Promise<CaseTools>;
  /**
   * The configured model, whose calls count against the same budgets as the app's.
   * @throws CountersignError when there is none, or its settings are wrong.
   */
  model(storage: Storage): Promise<Model>;
  /**
   * What carries skills out, with the configured model if there is one: what that takes counts against the budgets, in the database.
   * @throws CountersignError for bad settings, and when there is a model and no database.
   */
  withSkillRunner<T>(url: string | undefined, work: (runner: SkillRunner) => Promise<T>): Promise<T>;
  /**
   * Resolves once the app listens; it then runs until the process is told to stop.
   * @throws UsageError when the file with the settings cannot be read.
   */
  serve(options: ServeOptions): Promise<{ ok: true } | { ok: false; code: string; message: string }>;
  /** The checkout's demo, when this is a checkout. */
  demoFile(): string | undefined;
}

export interface KnownSkills {
  /** Names that no package may take. */
  builtIn: string[];
  shipped: readonly ParsedPackage[];
}

export interface SkillRunner extends Omit<ActivationDeps, 'skills'> {
  builtIn: readonly StepHandler[];
}

/** Versions are numbers of migrations; 0 is a database that did not exist. */
export interface Migrated {
  database: string;
  from: number;
  to: number;
  /** Files, in order. */
  applied: string[];
}

/** What a command says: the same facts as text and as JSON. */
export interface Said {
  text: string;
  json: unknown;
  /** The command did its work and the answer is no, such as faults that were found. */
  failed?: boolean;
}

/** `ran`: another program spoke for itself in the command's place. */
export type Answer = Said | { ran: true; failed: boolean };

/** The command was not written as it must be; ends with 2 instead of 1. */
export class UsageError extends CountersignError {
  constructor(message: string) {
    super('cli.misuse', message);
  }
}

export interface DatabaseOption {
  database?: string;
}

export interface ServeOptions extends DatabaseOption {
  /** A file with more settings; those of the environment win. */
  settings?: string;
}

/** Gives a command its surroundings and says what came of it. */
export type Perform = (work: (context: Context) => Promise<Answer>) => Promise<void>;
