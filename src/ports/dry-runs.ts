import type { InputValue } from '../domain/chain/chain-inputs.ts';
import type { StoredChain } from '../domain/chain/stored.ts';
import type { CaseResult } from '../domain/chain-case/case-file.ts';
import type { Explanation } from '../domain/explanation/explanation.ts';
import type { Repo } from './github.ts';

/** What a dry run in Studio plays. */
export interface DryRunAsked {
  repo: Repo;
  /** `null`: without a pull request. */
  pullRequest: number | null;
  chain: string;
  /** Of a chain that nobody has committed yet. */
  text?: string;
  /** Fired by hand, whatever the chain's trigger. */
  fire?: { actor: string; inputs: Readonly<Record<string, InputValue>> };
  /** What the operator says about chains of the repository. */
  stored: readonly StoredChain[];
}

/** A step as a dry run shows it. Its texts are those of anybody. */
export interface ShownStep {
  id: string;
  /** How many chains run it: 0 for a step of the chain itself. */
  depth: number;
  mark: string;
  words: string;
  /** Its status, or `undone` where it has not passed. */
  state: string;
  reason: string | null;
  dependsOn: readonly string[];
}

/** What would be written to GitHub, without what GitHub does not show. */
export interface ShownWrite {
  head: string;
  body: string | null;
  parts: readonly { line: string; body: string | null }[];
}

/** One run: that of the chain, or of a chain that a step runs. */
export interface ShownCourse {
  /** The steps that led to it; empty for the chain itself. */
  path: readonly string[];
  chain: string;
  why: Explanation;
  writes: readonly ShownWrite[];
  /** How many others are not shown. */
  moreWrites: number;
}

/** What became of a dry run. It has a limit of characters. Only texts and numbers, which can leave a process. */
export interface ShownDryRun {
  pullRequest: { title: string; headSha: string; baseRef: string } | null;
  /** What was assumed. */
  notes: readonly string[];
  result: CaseResult;
  because: string;
  steps: readonly ShownStep[];
  /** How many steps are not shown. */
  moreSteps: number;
  /** Empty if no run began. */
  courses: readonly ShownCourse[];
  /** Why no run began. */
  whyNot: Explanation | null;
}

/** Why a dry run has no result. */
export type DryRunFailure =
  /** There is no such pull request, or GitHub does not show it to the person. */
  | 'hidden'
  | 'token_refused'
  | 'rate_limited'
  | 'github_refuses'
  | 'no_answer'
  | 'timed_out'
  | 'too_much_memory'
  | 'stopped'
  /** The process that played it has ended without a word. */
  | 'lost'
  | 'broken';

export type DryRunEnd = { kind: 'done'; shown: ShownDryRun } | { kind: 'failed'; because: DryRunFailure };

/** A dry run of one person, which any process shows and one process plays. */
export interface StoredDryRun {
  id: string;
  /** On GitHub. */
  personId: number;
  repositoryId: number;
  repository: string;
  pullRequest: number | null;
  chain: string;
  /** Its text was pasted. */
  isPasted: boolean;
  begunAt: Date;
  /** So far. The result has them, too. */
  steps: readonly ShownStep[];
  /** How often it has changed. */
  changes: number;
  /** `null`: it is under way, or its process is gone. */
  end: DryRunEnd | null;
  endedAt: Date | null;
}

export interface StoredDryRuns {
  insert(begun: Omit<StoredDryRun, 'steps' | 'changes' | 'end' | 'endedAt'>): Promise<void>;
  get(id: string): Promise<StoredDryRun | undefined>;
  /** The id of the person's dry run that began after then and has not ended. */
  underWay(personId: number, begunAfter: Date): Promise<string | undefined>;
  /** Does nothing to one that has ended, as do the following. */
  changeSteps(id: string, steps: readonly ShownStep[]): Promise<void>;
  end(id: string, end: DryRunEnd, at: Date): Promise<void>;
  /** For the process that plays it. */
  askToStop(id: string): Promise<void>;
  /** Which of these somebody wants to stop. */
  askedToStop(ids: readonly string[]): Promise<string[]>;
  removeBefore(begunAt: Date): Promise<void>;
  /** Of those that have ended, removes the oldest until at most as many, and as many characters of results, are left. */
  removeBeyond(limits: { most: number; characters: number }): Promise<void>;
}

/** Plays a chain without writing to GitHub. */
export interface DryRunPlayer {
  /**
   * Resolves when nothing of the dry run is left: no process, no folder.
   * @param token of the person who asked; it is only read with
   * @param onSteps called with all steps so far when one changed
   */
  play(
    asked: DryRunAsked,
    token: string,
    options: { signal: AbortSignal; onSteps(steps: readonly ShownStep[]): void },
  ): Promise<DryRunEnd>;
}
