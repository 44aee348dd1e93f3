import type { Contract } from '../artifact/contract.ts';
import type { Verification } from '../artifact/verification.ts';
import type { Chain } from '../chain/chain.ts';
import type { Settings } from '../chain/settings.ts';
import type { Event } from '../event/event.ts';
import type { Reason } from '../explanation/reason.ts';
import type { GateVerdict } from '../outcome/gate-verdict.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { actionOf, type Capability } from '../policy/capability.ts';
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

/** What a waiting step waits for; each is a status of its own. */
export type WaitingFor = 'ci' | 'approval' | 'until';

/** One firing of a chain, with everything it was fired with snapshotted: later edits do not reach it. */
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
  /** The facts expressions read as `trigger.*`, `repo.*`. */
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
  /** The branch whose files govern the run, and why; absent when it is the base. Expressions do not see it. */
  governed?: { branch: string; because: string };
}

/** The record of one step of one run. */
export interface Invocation {
  id: string;
  runId: string;
  stepIndex: number;
  stepId: string;
  status: StepStatus;
  reason: Reason | null;
  /** Sessions started so far that count against `retry.attempts`. */
  attempts: number;
  /** The current or last session. */
  sessionId: string | null;
  /** When a waiting step looks again by itself. */
  waitUntil: Date | null;
  /** When the step times out; set at its first start. */
  deadlineAt: Date | null;
  outcome: Outcome | null;
  outcomeArtifactId: string | null;
  /** What its current or last session left behind, once that is over and when there was a contract; the session's own. */
  readonly verification: Verification | null;
  /** The skill that its current or last session chose; absent unless the step leaves that open. */
  readonly choice?: SkillChoice;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** What every step is like before it has begun, the first time and when it is run again. */
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
  /** What it must leave behind, as it was when it began; `null` when that is nothing. */
  readonly contract: Contract | null;
  /** What it did leave behind; `null` while it is at work, and without a contract. */
  verification: Verification | null;
  /** The skill that it chose, of a step that leaves that open; absent until then. */
  readonly choice?: SkillChoice;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface RunState {
  run: Run;
  /** By step index. */
  invocations: Invocation[];
  /** The newest verdict of each gate of each step; absent when the run has no gates. */
  verdicts?: readonly GateVerdict[];
}

/** Whether anything asks for gates in the run, so that there can be verdicts. */
export function hasGates({ definition, settings }: Pick<Run, 'definition' | 'settings'>): boolean {
  return (settings.gates ?? []).length > 0 || definition.steps.some(({ gates }) => gates !== undefined);
}

/** What the step's action declares; `undefined` for a skill, and for a step that cannot be found. */
export function actionOfStep(
  { definition }: Pick<Run, 'definition'>,
  { stepIndex }: Pick<Invocation, 'stepIndex'>,
): Capability | undefined {
  const uses = definition.steps[stepIndex]?.uses;
  return uses && actionOf(uses);
}

/** Whether the step merges. One that cannot be found is taken to: its question must not be answered as lightly as others. */
export function isMergeStep(
  run: Pick<Run, 'definition'>,
  step: Pick<Invocation, 'stepIndex'> | undefined,
): boolean {
  const isKnown = step !== undefined && run.definition.steps[step.stepIndex] !== undefined;
  return !isKnown || actionOfStep(run, step)?.merges === true;
}

/** The branch whose files govern the run. */
export function governingBranch({ facts, baseRef }: Pick<Run, 'facts' | 'baseRef'>): string {
  return facts.governed?.branch ?? baseRef;
}

/** The run's repository, as GitHub is asked about it. */
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
