import type { DryRunAsked, DryRunEnd, ShownStep } from '../../ports/dry-runs.ts';

/** The first line that a dry run's process reads. When its input ends or has another line, it stops. */
export interface DryRunOrder {
  asked: DryRunAsked;
  token: string;
  /** The settings that it needs, as variables of the environment. None is a secret. */
  settings: Readonly<Record<string, string>>;
}

/** A line that it writes. */
export type FromDryRun =
  | { kind: 'steps'; steps: readonly ShownStep[] }
  | { kind: 'ended'; end: DryRunEnd }
  /** For the log. */
  | { kind: 'broken'; detail: string };
