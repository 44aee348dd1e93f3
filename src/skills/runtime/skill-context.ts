import type { Json } from '../../core/canonical.ts';
import type { SkillOutcome } from '../../domain/skill/manifest.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepContext } from '../../engine/steps/step.ts';

/** What a handler receives: its step, and the package of its artifact. */
export interface SkillContext {
  step: StepContext;
  skill: SkillPackage;
  /** The kind of outcome that its result must be. */
  outcome: SkillOutcome;
  owner: Owner;
  /** What the file before it in the package's sequence returned. */
  previous?: Json;
  /** Set if another file of the sequence follows: its result then need not be an outcome. */
  isIntermediate?: boolean;
  /** The packages that its programs can run, as they were when the run began. */
  packages?: (name: string) => Promise<SkillPackage | undefined>;
  /** Set if a program runs it. */
  calledAt?: Pick<SkillCalls, 'depth' | 'root'>;
  /** How its programs run skills. */
  calls?: SkillCalls;
}

/** What a program can run, and what it shares with the programs around it. */
export interface SkillCalls {
  /** The number of programs around this one. */
  depth: number;
  /** The same for all programs of one execution, which share one set of budgets. */
  root: object;
  /**
   * Runs a skill by its name, or a file of the same package by its path.
   * @returns its outcome, or why there is none
   * @throws GitHubError if GitHub could not be read; the signal's reason if aborted
   */
  run(
    target: string,
    inputs: { [name: string]: Json },
    signal: AbortSignal,
  ): Promise<{ outcome: Json } | { because: string }>;
}

/** The owner of an execution. A call in a comment has neither run nor session. */
export type Owner = { runId: string; sessionId: string } | { callId: string };
