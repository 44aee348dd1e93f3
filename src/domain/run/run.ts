import type { Contract } from '../artifact/contract.ts';
import type { Verification } from '../artifact/verification.ts';
import type { Chain } from '../chain/chain.ts';
import type { InputValues } from '../chain/chain-inputs.ts';
import type { Scope } from '../chain/scope.ts';
import type { Settings } from '../chain/settings.ts';
import type { TriggerSource } from '../chain/trigger-schema.ts';
import type { Event } from '../event/event.ts';
import type { Reason } from '../explanation/reason.ts';
import type { GateVerdict } from '../outcome/gate-verdict.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { Approval } from '../policy/approval.ts';
import { actionOf, type Capability } from '../policy/capability.ts';
import { type CountersignRules, tightened } from '../policy/countersign-rules.ts';
import type { RolloutLevel } from '../policy/rollout.ts';
import type { SkillChoice } from '../skill/decision.ts';

export const RUN_STATUSES = [
  'running',
  'waiting_ci',
  'waiting_approval',
  'waiting_until',
  'completed',
  'failed',
  'timed_out',
  'aborted',
  'cancelled',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const STEP_STATUSES = [
  'pending',
  'running',
  'waiting_ci',
  'waiting_approval',
  'waiting_until',
  'completed',
  'skipped',
  'failed',
  'timed_out',
  'cancelled',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const SESSION_STATUSES = [
  'running',
  'waiting',
  'completed',
  'failed',
  'timed_out',
  'cancelled',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The kinds of waiting; each is a status of its own. */
export type WaitingFor = 'ci' | 'approval' | 'until';

/**
 * One firing of a chain, with a snapshot of everything that it was fired with, so that later edits do not
 * affect it.
 */
export interface Run {
  id: string;
  installationId: number;
  repositoryId: number;
  /** `owner/name` as of the last event. */
  repository: string;
  /** `null` for chains that are not about a pull request. */
  pullRequest: number | null;
  headSha: string;
  baseRef: string;
  baseSha: string;
  chain: string;
  definition: Chain;
  settings: Settings;
  /** The facts that expressions read as `trigger.*`, `inputs.*` and `repo.*`. */
  facts: RunFacts;
  event: Event;
  deliveryId: number | null;
  status: RunStatus;
  reason: Reason | null;
  paused: boolean;
  createdAt: Date;
  updatedAt: Date;
  finishedAt: Date | null;
}

export interface RunFacts {
  trigger: { [key: string]: string | number | boolean | null | string[] };
  repo: { full_name: string; owner: string; name: string; default_branch: string };
  /** The values of the chain's inputs; absent for a chain that declares none. */
  inputs?: InputValues;
  /**
   * The branch whose configuration governs the run, and why; absent if it is the base. Expressions cannot
   * read it.
   */
  governed?: { branch: string; because: string };
  /**
   * Where the chain is defined; absent for runs from before this was stored, and for the step of another run. Expressions cannot
   * read it.
   */
  defined?: { scope: Exclude<Scope, 'stored'>; file: string } | { scope: 'stored' };
  /**
   * The event that fired the chain once, whatever happens to its pull request later; absent if the run follows the head
   * of its pull request. Expressions cannot read it.
   */
  fired?: { source: TriggerSource; occasion?: string };
  /** Some chain waits for the steps of others. Absent otherwise, so that most runs send no events. */
  heard?: true;
  /** How many runs started one another, of which this is the last; absent if none did. */
  depth?: number;
  /**
   * The first of the runs that started one another, so that what one event causes can be counted; absent if this is the first.
   * Expressions cannot read it.
   */
  root?: string;
  /**
   * Whose activity filled the parts of the composite that began the run, or of one before it, where that could be anybody's; `null` stands for somebody
   * unknown. Expressions cannot read it.
   */
  broughtBy?: readonly (string | null)[];
  /** The rollout when the run began; absent if it was `enforce`. Expressions cannot read it. */
  rollout?: Exclude<RolloutLevel, 'enforce'>;
  /** The step of another run that began it, and waits for its end; absent otherwise. Expressions cannot read it. */
  parent?: {
    run: string;
    chain: string;
    step: string;
    /** The runs above that one, from the nearest. */
    above: readonly string[];
    /** How many runs like this there can be, of all steps of the runs above; absent if this is the only one. */
    among?: number;
  };
}

/** The record of one step of one run. */
export interface Invocation {
  id: string;
  runId: string;
  stepIndex: number;
  stepId: string;
  status: StepStatus;
  reason: Reason | null;
  /** Started sessions that count towards `retry.attempts`. */
  attempts: number;
  /** The current or last session. */
  sessionId: string | null;
  /** When a waiting step rechecks by itself. */
  waitUntil: Date | null;
  /** When the step times out; set at its first start. */
  deadlineAt: Date | null;
  outcome: Outcome | null;
  outcomeArtifactId: string | null;
  /** The verification of its current or last session, after its end and if it had a contract. */
  readonly verification: Verification | null;
  /** The skill that its current or last session chose; absent unless the step has `skill: auto`. */
  readonly choice?: SkillChoice;
  /** Set if somebody asked to have one file reviewed again, until the step begins again for another reason. */
  oneFile: OneFile | null;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** A file that is reviewed again by itself. */
export interface OneFile {
  path: string;
  /** The artifact of the review that stays as it is for the other files; `null` if there was none. */
  rest: string | null;
}

/** The initial values of every step, at the first start and at a rerun. */
export const NOT_BEGUN = {
  status: 'pending',
  reason: null,
  attempts: 0,
  sessionId: null,
  waitUntil: null,
  deadlineAt: null,
  outcome: null,
  outcomeArtifactId: null,
  verification: null,
  oneFile: null,
  startedAt: null,
  finishedAt: null,
} as const satisfies Partial<Invocation>;

/** One attempt at an invocation. */
export interface Session {
  id: string;
  invocationId: string;
  attempt: number;
  status: SessionStatus;
  reason: Reason | null;
  /** Its contract as of its start; `null` without one. */
  readonly contract: Contract | null;
  /** The result of its verification; `null` while it runs, and without a contract. */
  verification: Verification | null;
  /** For a step with `skill: auto`: the skill that it chose; absent until then. */
  readonly choice?: SkillChoice;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface RunState {
  run: Run;
  /** By step index. */
  invocations: Invocation[];
  /** The newest verdict of each gate of each step; absent if the run has no gates. */
  verdicts?: readonly GateVerdict[];
}

/** Whether the run can have verdicts of gates. */
export function hasGates({ definition, settings }: Pick<Run, 'definition' | 'settings'>): boolean {
  return (settings.gates ?? []).length > 0 || definition.steps.some(({ gates }) => gates !== undefined);
}

/** The declaration of the step's action; `undefined` for a skill, and for an unknown step. */
export function actionOfStep(
  { definition }: Pick<Run, 'definition'>,
  { stepIndex }: Pick<Invocation, 'stepIndex'>,
): Capability | undefined {
  const uses = definition.steps[stepIndex]?.uses;
  return uses && actionOf(uses);
}

/**
 * Whether the step merges. An unknown step counts as merging, so that its approval comment has the stricter
 * rules.
 */
export function isMergeStep(
  run: Pick<Run, 'definition'>,
  step: Pick<Invocation, 'stepIndex'> | undefined,
): boolean {
  const isKnown = step !== undefined && run.definition.steps[step.stepIndex] !== undefined;
  return !isKnown || actionOfStep(run, step)?.merges === true;
}

/** The branch whose configuration governs the run. */
export function governingBranch({ facts, baseRef }: Pick<Run, 'facts' | 'baseRef'>): string {
  return facts.governed?.branch ?? baseRef;
}

/** The run's repository, for requests to GitHub. */
export function repoOf({ repository }: Pick<Run, 'repository'>): { owner: string; name: string } {
  const [owner = '', name = ''] = repository.split('/');
  return { owner, name };
}

export function isRunOver(status: RunStatus): boolean {
  return !(['running', 'waiting_ci', 'waiting_approval', 'waiting_until'] as RunStatus[]).includes(status);
}

export function isStepOver(status: StepStatus): boolean {
  return !(
    ['pending', 'running', 'waiting_ci', 'waiting_approval', 'waiting_until'] as StepStatus[]
  ).includes(status);
}

/** Whether the step waits, and for what. */
export function waitingFor(status: StepStatus): WaitingFor | undefined {
  switch (status) {
    case 'waiting_ci':
      return 'ci';
    case 'waiting_approval':
      return 'approval';
    case 'waiting_until':
      return 'until';
    default:
      return undefined;
  }
}

/** The rules for the answers to an approval comment; those of the settings if there is none. */
export function rulesAsked(
  { run, invocations }: Pick<RunState, 'run' | 'invocations'>,
  approval: Pick<Approval, 'invocationId'> | null,
): CountersignRules {
  const step = invocations.find(({ id }) => id === approval?.invocationId);
  return tightened(run.settings.countersign, step && run.definition.steps[step.stepIndex]?.approval);
}
